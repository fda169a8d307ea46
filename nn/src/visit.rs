//! The walk through the parts of a module.

mod containers;

use std::fmt;

use crate::param::{Buffer, Param, Training};

/// A value that can be a field of a module: [`Param`], [`Buffer`], [`Training`], a module, a number, or a container of these.
///
/// `#[derive(Module)]` implements it. The name of a part is the path of fields, indices and keys, as in PyTorch: `layers.0.weight`.
///
/// ```
/// use dispatch_nn::{Linear, ModulePath, Part, Visit};
/// # use kernels_cpu as _;
///
/// let mut names = Vec::new();
/// Linear::new(2, 3)?.visit(&ModulePath::ROOT, &mut |path, part| {
///     if let Part::Param(_) = part {
///         names.push(path.to_string());
///     }
/// });
/// assert_eq!(names, ["weight", "bias"]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a module",
    label = "neither a parameter, a buffer, a module, a number, nor a container of these",
    note = "a tensor is `Param` if it is trained, and `Buffer` if it is only saved; a struct is a module by `#[derive(Module)]`",
    note = "`#[module(skip)]` before the field leaves it out of the module's parameters and state"
)]
pub trait Visit {
    /// Calls `f` with each part and its name, in the order of the fields.
    fn visit(&self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, Part<'_>));

    /// Calls `f` with each part and its name, in the order of the fields, so that it can replace the part.
    fn visit_mut(&mut self, at: &ModulePath<'_>, f: &mut dyn FnMut(&ModulePath<'_>, PartMut<'_>));
}

/// A part of a module.
///
/// ```
/// use dispatch_nn::{Dropout, ModulePath, Part, Visit};
/// let mut parts = Vec::new();
/// Dropout::new(0.5)?.visit(&ModulePath::ROOT, &mut |_, part| parts.push(format!("{part:?}")));
/// assert_eq!(parts, ["Module(\"Dropout\")", "Training(Training(true))"]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Part<'a> {
    /// The module itself, by the name of its type. Its own parts follow.
    Module(&'static str),
    /// A parameter.
    Param(&'a Param),
    /// A buffer.
    Buffer(&'a Buffer),
    /// The switch between training and evaluation.
    Training(&'a Training),
}

/// A part of a module that can be replaced.
///
/// ```
/// use dispatch_nn::{Dropout, ModulePath, PartMut, Training, Visit};
/// let mut dropout = Dropout::new(0.5)?;
/// dropout.visit_mut(&ModulePath::ROOT, &mut |_, part| {
///     if let PartMut::Training(training) = part {
///         *training = Training::OFF;
///     }
/// });
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum PartMut<'a> {
    /// A parameter.
    Param(&'a mut Param),
    /// A buffer.
    Buffer(&'a mut Buffer),
    /// The switch between training and evaluation.
    Training(&'a mut Training),
}

/// The name of a part: the fields, indices and keys that lead to it, with points between them.
///
/// ```
/// use dispatch_nn::ModulePath;
/// assert_eq!(ModulePath::ROOT.field("layers").index(0).field("weight").to_string(), "layers.0.weight");
/// assert_eq!(ModulePath::ROOT.depth(), 0);
/// ```
#[derive(Clone, Copy)]
pub struct ModulePath<'a> {
    parent: Option<&'a Self>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Name(&'a str),
    Index(usize),
}

impl ModulePath<'_> {
    /// The path of the outermost module. Its text is empty.
    pub const ROOT: ModulePath<'static> = ModulePath { parent: None, step: Step::Root };

    /// Returns the path of an element of a list.
    #[must_use]
    pub const fn index(&self, index: usize) -> ModulePath<'_> {
        ModulePath { parent: Some(self), step: Step::Index(index) }
    }

    /// Returns the number of names in the path.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.parent.map_or(0, |parent| parent.depth() + 1)
    }
}

impl<'a> ModulePath<'a> {
    /// Returns the path of a field, or of a value in a map.
    #[must_use]
    pub const fn field(&'a self, name: &'a str) -> Self {
        ModulePath { parent: Some(self), step: Step::Name(name) }
    }
}

impl fmt::Display for ModulePath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent.filter(|parent| parent.parent.is_some()) {
            write!(f, "{parent}.")?;
        }
        match self.step {
            Step::Root => Ok(()),
            Step::Name(name) => f.write_str(name),
            Step::Index(index) => index.fmt(f),
        }
    }
}

impl fmt::Debug for ModulePath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ModulePath({self})")
    }
}
