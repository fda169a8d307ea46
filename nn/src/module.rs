//! The trait of modules. Its methods need only the parts of a model, and not its computation.

use std::collections::{BTreeMap, HashMap, HashSet};

use aten::{IntoOptions, TensorOptions, prelude::*};
use dispatch_autograd::Differentiable;
use dispatch_runtime::{Result, Tensor, TensorTree, guard};

use crate::param::{NamedParam, Param, Training};
use crate::state_dict::{self, IncompatibleKeys};
use crate::summary::{self, Summary};
use crate::visit::{ModulePath, Part, PartMut, Visit};

/// A module: a layer, or a model of layers. `#[derive(Module)]` implements it for a struct.
///
/// The fields of the struct are parameters, buffers, modules, numbers, and containers of these. `#[module(skip)]` leaves a field out, and
/// `#[module(name = "..")]` gives it another name.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Linear, Module};
///
/// #[derive(Clone, Module)]
/// struct Model {
///     #[module(name = "lm_head")]
///     head: Linear,
///     #[module(skip)]
///     sizes: std::ops::Range<i64>,
/// }
///
/// let model = Model { head: Linear::new(2, 3)?, sizes: 0..4 };
/// assert_eq!(model.parameters()[0].name, "lm_head.weight");
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[diagnostic::on_unimplemented(message = "`{Self}` is no module", note = "write `#[derive(Module)]` before the struct")]
pub trait Module: Visit {
    /// Returns the parameters with their names, each once: a parameter that two fields share has its first name.
    fn parameters(&self) -> Vec<NamedParam> {
        let (mut parameters, mut seen) = (Vec::new(), HashSet::new());
        self.visit(&ModulePath::ROOT, &mut |path, part| {
            if let Part::Param(param) = part
                && seen.insert(param.identity())
            {
                parameters.push(NamedParam { name: path.to_string(), param: param.clone() });
            }
        });
        parameters
    }

    /// Returns the buffers with their names.
    fn buffers(&self) -> Vec<(String, Tensor)> {
        let mut buffers = Vec::new();
        self.visit(&ModulePath::ROOT, &mut |path, part| {
            if let Part::Buffer(buffer) = part {
                buffers.push((path.to_string(), Tensor::clone(buffer)));
            }
        });
        buffers
    }

    /// Returns the parameters and the persistent buffers by name. The tensors share the elements of the module.
    ///
    /// # Errors
    ///
    /// Returns the error of `detach`.
    fn state_dict(&self) -> Result<BTreeMap<String, Tensor>> {
        state_dict::named_tensors(self).into_iter().map(|(name, tensor)| Ok((name, tensor.detach()?))).collect()
    }

    /// Copies tensors to the parameters and the persistent buffers of these names. The names must be those of the module.
    ///
    /// # Errors
    ///
    /// Returns [`StateDictError`](crate::StateDictError), which lists all names that are missing or unexpected, and all wrong shapes. Then
    /// nothing was copied.
    fn load_state_dict(&self, tensors: &BTreeMap<String, Tensor>) -> Result<()> {
        state_dict::load(self, tensors)
    }

    /// Copies tensors to the parameters and the persistent buffers of these names, and returns the names that only the module or only the
    /// dict has. PyTorch: `load_state_dict(strict=False)`.
    ///
    /// # Errors
    ///
    /// Returns [`StateDictError`](crate::StateDictError) if shapes differ. Then nothing was copied.
    fn load_state_dict_not_strict(&self, tensors: &BTreeMap<String, Tensor>) -> Result<IncompatibleKeys> {
        state_dict::load_not_strict(self, tensors)
    }

    /// Converts the module to a device, a floating-point dtype, or both. Tensors that change are new ones: other modules and optimisers keep
    /// the old ones. Sizes and strides stay, and so does the dtype of integers.
    ///
    /// # Errors
    ///
    /// Returns the error of the copy.
    fn to(mut self, options: impl IntoOptions) -> Result<Self>
    where
        Self: Sized,
    {
        let options = options.into_options();
        replace_tensors(&mut self, &|tensor| {
            let dtype = options
                .dtype
                .filter(|&dtype| dtype != tensor.dtype() && (tensor.is_floating_point() || tensor.is_complex()));
            let device = options.device.filter(|&device| device != tensor.device());
            if dtype.is_none() && device.is_none() {
                return Ok(tensor.clone());
            }
            tensor.detach()?.to(TensorOptions { dtype, device })
        })?;
        Ok(self)
    }

    /// Returns a copy with its own tensors. `clone` shares them.
    ///
    /// # Errors
    ///
    /// Returns the error of the copy.
    fn deep_clone(&self) -> Result<Self>
    where
        Self: Clone,
    {
        let mut copy = self.clone();
        replace_tensors(&mut copy, &|tensor| tensor.detach()?.deep_clone())?;
        Ok(copy)
    }

    /// Switches to training: dropout is active, and normalisations use the statistics of the batch.
    fn train(&mut self) {
        set_training(self, Training::ON);
    }

    /// Switches to evaluation.
    fn eval(&mut self) {
        set_training(self, Training::OFF);
    }

    /// Sets whether the parameters are trained.
    ///
    /// # Errors
    ///
    /// Returns an error inside of a function transform.
    fn requires_grad_(&self, requires_grad: bool) -> Result<()> {
        self.parameters().iter().try_for_each(|parameter| parameter.requires_grad_(requires_grad))
    }

    /// Removes the gradients of the parameters.
    fn zero_grad(&self) {
        self.parameters().iter().for_each(|parameter| Differentiable::zero_grad(&***parameter));
    }

    /// Returns a table of the modules with their numbers of parameters.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use dispatch_nn::{Linear, Module, ReLU, Sequential};
    /// let net = Sequential::new().add(Linear::new(4, 8)?).add(ReLU);
    /// println!("{}", net.summary());
    /// assert_eq!(net.summary().num_parameters, 40);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    fn summary(&self) -> Summary {
        Summary::new(self, Vec::new())
    }

    /// Returns a table of the modules with their numbers of parameters, and with the sizes of their outputs in a call. The call runs in
    /// evaluation mode and without gradients.
    ///
    /// The modules of this crate report their outputs, and so does the outermost module.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, Linear, Module, ReLU, Sequential};
    /// use dispatch_runtime::Tensor;
    /// let net = Sequential::new().add(Linear::new(4, 8)?).add(ReLU);
    /// let x = Tensor::zeros((3, 4), ())?;
    /// let summary = net.summary_with(|net| net.forward(&x))?;
    /// assert_eq!(summary.modules[1].output_sizes, [[3, 8]]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the error of the call.
    fn summary_with<T: TensorTree>(&self, call: impl FnOnce(&Self) -> Result<T>) -> Result<Summary>
    where
        Self: Clone,
    {
        // The clone shares the tensors, and has a mode of its own.
        let mut module = self.clone();
        module.eval();
        let _unrecorded = guard::no_grad();
        let (output, observations) = summary::observe_call(|| call(&module));
        let mut summary = Summary::new(&module, observations);
        summary.set_output(&output?);
        Ok(summary)
    }

    /// Returns the number of elements of all parameters.
    fn num_parameters(&self) -> i64 {
        self.parameters().iter().map(|parameter| parameter.geometry().count()).sum()
    }
}

impl<T: Module + ?Sized> Module for Box<T> {}
impl<T: Module> Module for Option<T> {}
impl<T: Module> Module for Vec<T> {}
impl<T: Module, const N: usize> Module for [T; N] {}

fn set_training<M: Visit + ?Sized>(module: &mut M, value: Training) {
    module.visit_mut(&ModulePath::ROOT, &mut |_, part| {
        if let PartMut::Training(training) = part {
            *training = value;
        }
    });
}

/// Replaces each tensor by the one that `convert` returns, which can be the same. Parameters and buffers that were one tensor stay one, and gradients are converted, too.
fn replace_tensors<M: Visit + ?Sized>(module: &mut M, convert: &dyn Fn(&Tensor) -> Result<Tensor>) -> Result<()> {
    let (mut converted, mut result) = (HashMap::new(), Ok(()));
    let mut replaced = Vec::new();
    module.visit_mut(&ModulePath::ROOT, &mut |_, part| {
        let replace = || -> Result<()> {
            match part {
                PartMut::Param(param) => {
                    // The old tensor lives until the end, so that no new one has its identity.
                    let old = param.clone();
                    *param = match converted.get(&old.identity()) {
                        Some(Converted::Param(new)) => Param::clone(new),
                        _ => convert_param(&old, convert)?,
                    };
                    converted.insert(old.identity(), Converted::Param(param.clone()));
                    replaced.push(old.tensor());
                }
                PartMut::Buffer(buffer) => {
                    let old = Tensor::clone(buffer);
                    let new = match converted.get(&old.identity()) {
                        Some(Converted::Buffer(new)) => Tensor::clone(new),
                        _ => convert(&old)?,
                    };
                    *buffer = buffer.with_tensor(new.clone());
                    converted.insert(old.identity(), Converted::Buffer(new));
                    replaced.push(old);
                }
                PartMut::Training(_) => {}
            }
            Ok(())
        };
        if result.is_ok() {
            result = replace();
        }
    });
    result
}

/// A tensor in place of an old one.
enum Converted {
    Param(Param),
    Buffer(Tensor),
}

fn convert_param(old: &Param, convert: &dyn Fn(&Tensor) -> Result<Tensor>) -> Result<Param> {
    let new = convert(old)?;
    if new.same(old) {
        return Ok(old.clone());
    }
    let new = Param::new(new)?;
    if let Some(gradient) = old.grad() {
        new.set_grad(Some(convert(&gradient)?))?;
    }
    new.requires_grad_(old.requires_grad())?;
    Ok(new)
}
