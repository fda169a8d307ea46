//! Loading of a state dict.

use std::collections::BTreeMap;
use std::{error, fmt};

use aten::prelude::*;
use dispatch_runtime::{Error, Result, Tensor, guard};

use crate::visit::{ModulePath, Part, Visit};

/// The names that only one of a module and a state dict has.
///
/// ```
/// assert!(dispatch_nn::IncompatibleKeys::default().is_empty());
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct IncompatibleKeys {
    /// The names that the module has, and the dict has not.
    pub missing: Vec<String>,
    /// The names that the dict has, and the module has not.
    pub unexpected: Vec<String>,
}

impl IncompatibleKeys {
    /// Returns whether there are no such names.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.missing.is_empty() && self.unexpected.is_empty()
    }
}

/// The error for a state dict that does not fit a module.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
/// use dispatch_runtime::Tensor;
///
/// let tensors = [("weight".to_owned(), Tensor::from([1.0])), ("scale".to_owned(), Tensor::from(1.0))].into();
/// let error = Linear::new(2, 3)?.load_state_dict(&tensors).unwrap_err().to_string();
/// assert!(error.contains("missing: `bias`") && error.contains("unexpected: `scale`"), "{error}");
/// assert!(error.contains("`weight` has the shape [3, 2] in the module and [1] in the state dict"), "{error}");
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StateDictError {
    /// The names that only one of both has.
    pub keys: IncompatibleKeys,
    /// The tensors of other shapes.
    pub wrong_shapes: Vec<WrongShape>,
}

/// A tensor of a state dict that has another shape than that of the module.
///
/// ```
/// let shape = dispatch_nn::WrongShape { name: "weight".to_owned(), module: vec![3, 2], state_dict: vec![1] };
/// assert_eq!(shape.to_string(), "`weight` has the shape [3, 2] in the module and [1] in the state dict");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrongShape {
    /// The name of the parameter or buffer.
    pub name: String,
    /// The shape in the module.
    pub module: Vec<i64>,
    /// The shape in the state dict.
    pub state_dict: Vec<i64>,
}

/// Returns the parameters and the persistent buffers, with all their names.
pub(crate) fn named_tensors<M: Visit + ?Sized>(module: &M) -> Vec<(String, Tensor)> {
    let mut tensors = Vec::new();
    module.visit(&ModulePath::ROOT, &mut |path, part| match part {
        Part::Param(param) => tensors.push((path.to_string(), param.tensor())),
        Part::Buffer(buffer) if buffer.is_persistent() => tensors.push((path.to_string(), Tensor::clone(buffer))),
        _ => {}
    });
    tensors
}

pub(crate) fn load<M: Visit + ?Sized>(module: &M, tensors: &BTreeMap<String, Tensor>) -> Result<()> {
    let plan = LoadPlan::new(module, tensors);
    if !plan.keys.is_empty() || !plan.wrong_shapes.is_empty() {
        return Err(Error::kernel(StateDictError { keys: plan.keys, wrong_shapes: plan.wrong_shapes }));
    }
    copy_all(&plan.copies)
}

pub(crate) fn load_not_strict<M: Visit + ?Sized>(
    module: &M,
    tensors: &BTreeMap<String, Tensor>,
) -> Result<IncompatibleKeys> {
    let plan = LoadPlan::new(module, tensors);
    if !plan.wrong_shapes.is_empty() {
        let keys = IncompatibleKeys::default();
        return Err(Error::kernel(StateDictError { keys, wrong_shapes: plan.wrong_shapes }));
    }
    copy_all(&plan.copies)?;
    Ok(plan.keys)
}

/// The comparison of a module with a state dict.
struct LoadPlan<'a> {
    keys: IncompatibleKeys,
    wrong_shapes: Vec<WrongShape>,
    /// The tensors of the module, each with the one that is copied to it.
    copies: Vec<(Tensor, &'a Tensor)>,
}

impl<'a> LoadPlan<'a> {
    fn new<M: Visit + ?Sized>(module: &M, tensors: &'a BTreeMap<String, Tensor>) -> Self {
        let mut plan = Self { keys: IncompatibleKeys::default(), wrong_shapes: Vec::new(), copies: Vec::new() };
        let own = named_tensors(module);
        for (name, tensor) in &own {
            match tensors.get(name) {
                None => plan.keys.missing.push(name.clone()),
                Some(new) if new.sizes() != tensor.sizes() => plan.wrong_shapes.push(WrongShape {
                    name: name.clone(),
                    module: tensor.sizes().to_vec(),
                    state_dict: new.sizes().to_vec(),
                }),
                Some(new) => plan.copies.push((tensor.clone(), new)),
            }
        }
        let own: std::collections::HashSet<&String> = own.iter().map(|(name, _)| name).collect();
        plan.keys.unexpected.extend(tensors.keys().filter(|name| !own.contains(name)).cloned());
        plan
    }
}

fn copy_all(copies: &[(Tensor, &Tensor)]) -> Result<()> {
    let _unrecorded = guard::no_grad();
    copies.iter().try_for_each(|(to, from)| to.copy_(from))
}

impl fmt::Display for StateDictError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the state dict does not fit the module")?;
        for (names, title) in [(&self.keys.missing, "missing"), (&self.keys.unexpected, "unexpected")] {
            if !names.is_empty() {
                let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                write!(f, "\n  {title}: {}", quoted.join(", "))?;
            }
        }
        self.wrong_shapes.iter().try_for_each(|shape| write!(f, "\n  {shape}"))
    }
}

impl error::Error for StateDictError {}

impl fmt::Display for WrongShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, module, state_dict } = self;
        write!(f, "`{name}` has the shape {module:?} in the module and {state_dict:?} in the state dict")
    }
}
