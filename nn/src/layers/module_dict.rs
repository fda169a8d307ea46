//! Modules by name or number.

use dispatch_runtime::BadArgument;

use crate::module::Module;
use crate::visit::{ModulePath, ModuleRef, Part, PartMut, Visit};

/// Modules by number. Every `Vec` of modules is a module.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module, ModuleList};
/// use dispatch_runtime::Result;
///
/// let layers: ModuleList<Linear> = (0..3).map(|_| Linear::new(4, 4)).collect::<Result<_>>()?;
/// assert_eq!(layers.parameters()[2].name, "1.weight");
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub type ModuleList<T> = Vec<T>;

/// Modules by name, in the order in which they were inserted.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Forward, Layer, Linear, Module, ModuleDict, ReLU};
/// use dispatch_runtime::Tensor;
///
/// let mut choices = ModuleDict::<Box<dyn Layer>>::new();
/// choices.insert("linear", Box::new(Linear::new(2, 3)?))?;
/// choices.insert("act", Box::new(ReLU))?;
/// assert_eq!(choices.keys().collect::<Vec<_>>(), ["linear", "act"]);
/// assert_eq!(choices.parameters()[0].name, "linear.weight");
/// let layer = choices.get("act").unwrap();
/// assert_eq!(layer.forward(&Tensor::from([-1.0, 2.0]))?.to_vec::<f64>()?, [0.0, 2.0]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ModuleDict<T> {
    modules: Vec<(String, T)>,
}

impl<T> Default for ModuleDict<T> {
    fn default() -> Self {
        Self { modules: Vec::new() }
    }
}

impl<T> ModuleDict<T> {
    /// Creates a dict without modules.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Inserts a module, and returns the one of this name that it replaces.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if the name is empty or has a point, because points separate the names of a path.
    pub fn insert(&mut self, name: impl Into<String>, module: T) -> Result<Option<T>, BadArgument> {
        let name = name.into();
        if name.is_empty() || name.contains('.') {
            return Err(BadArgument::value("name", format!("`{name}`"), "a text without points"));
        }
        if let Some(other) = self.get_mut(&name) {
            return Ok(Some(std::mem::replace(other, module)));
        }
        self.modules.push((name, module));
        Ok(None)
    }

    /// Removes a module and returns it. The others keep their order.
    pub fn remove(&mut self, name: &str) -> Option<T> {
        let at = self.modules.iter().position(|(own, _)| own == name)?;
        Some(self.modules.remove(at).1)
    }

    /// Returns a module.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&T> {
        self.modules.iter().find(|(own, _)| own == name).map(|(_, module)| module)
    }

    /// Returns a module, to change it.
    #[must_use]
    pub fn get_mut(&mut self, name: &str) -> Option<&mut T> {
        self.modules.iter_mut().find(|(own, _)| own == name).map(|(_, module)| module)
    }

    /// Returns the names and the modules.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.modules.iter().map(|(name, module)| (&**name, module))
    }

    /// Returns the names.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|(name, _)| name)
    }

    /// Returns the modules.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.iter().map(|(_, module)| module)
    }

    /// Returns the number of modules.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.modules.len()
    }

    /// Returns whether there are no modules.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.modules.is_empty()
    }
}

impl<T: Visit> Visit for ModuleDict<T> {
    fn visit(&self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, Part<'_>)) {
        f(at, Part::Module(ModuleRef::new(self, "ModuleDict")));
        self.modules.iter().for_each(|(name, module)| module.visit(&at.field(name), f));
    }

    fn visit_mut(&mut self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, PartMut<'_>)) {
        self.modules.iter_mut().for_each(|(name, module)| module.visit_mut(&at.field(name), f));
    }
}

impl<T: Visit> Module for ModuleDict<T> {}
