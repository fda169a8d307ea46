//! Custom functions: computations that are not operators, with a user-defined backward.

use dispatch_runtime::{Result, Shared, Tensor, guard};

use crate::forward::record::replace_result_by_copy;
use crate::graph::function::BackwardFunction;
use crate::graph::history;
use crate::graph::node::{Edges, Node};
use crate::graph::outline::{self, ResultOutlines, TensorOutline};
use crate::graph::saved::{SavedTensor, SavedValue, SavedValues, unpack_value};

/// The backward of a custom function, see [`call_custom_function`].
///
/// For an operator, write its derivative as an `#[op_grad]` function instead. This trait is for other computations: a closure that is
/// recomputed, or a call to another program.
///
/// A tensor that the backward needs is saved with [`ForwardContext::save`]. A write to it in between is then an error, gradients of
/// gradients go through it, and it is freed with the graph. A tensor in a field of the implementing type has none of these.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_autograd::{Backward, BackwardContext, Differentiable, call_custom_function};
/// use dispatch_runtime::{Result, Tensor};
///
/// /// `exp`, whose derivative is its result.
/// struct Exp;
///
/// impl Backward for Exp {
///     fn name(&self) -> String {
///         "exp".to_owned()
///     }
///
///     fn backward(&self, ctx: &BackwardContext<'_>, gradients: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
///         let [Some(gradient)] = gradients else { return Ok(vec![None]) };
///         let y = &ctx.saved_tensors()?[0];
///         Ok(vec![Some((gradient * y)?)])
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let x = Tensor::from([0.0, 0.0]).requires_grad_(true)?;
/// let y = call_custom_function(&[&x], Exp, |ctx| {
///     let y = x.exp()?;
///     ctx.save(&y);
///     Ok(vec![y])
/// })?;
/// y[0].sum()?.backward()?;
/// assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [1.0, 1.0]);
/// # Ok(())
/// # }
/// ```
pub trait Backward: Send + Sync + 'static {
    /// The name of the function in error messages.
    fn name(&self) -> String;

    /// Computes the gradients of the inputs from the gradients of the outputs. Returns one entry per input, `None` if it has no gradient.
    /// The gradient of an output is `None` if nothing that was differentiated depends on it.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`BackwardContext::saved_tensors`] and of the called operators.
    fn backward(&self, ctx: &BackwardContext<'_>, gradients: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>>;
}

/// Calls a custom function. `forward` computes the outputs and is not recorded. Their gradients go through `backward` to `inputs`. An
/// output that shares memory with another tensor is copied.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_autograd::{Backward, BackwardContext, Differentiable, call_custom_function};
/// use dispatch_runtime::{Result, Tensor};
///
/// struct Straight;
///
/// impl Backward for Straight {
///     fn name(&self) -> String {
///         "straight-through rounding".to_owned()
///     }
///
///     fn backward(&self, _: &BackwardContext<'_>, gradients: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
///         Ok(gradients.to_vec())
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let x = Tensor::from([0.4, 1.6]).requires_grad_(true)?;
/// let rounded = call_custom_function(&[&x], Straight, |_| Ok(vec![x.round()?]))?.remove(0);
/// rounded.sum()?.backward()?;
/// assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [1.0, 1.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the error of `forward`, and [`GradientError::InferenceTensorSaved`](crate::GradientError::InferenceTensorSaved) if an input
/// requires gradients and a saved tensor was made in inference mode.
pub fn call_custom_function(
    inputs: &[&Tensor],
    backward: impl Backward,
    forward: impl FnOnce(&mut ForwardContext) -> Result<Vec<Tensor>>,
) -> Result<Vec<Tensor>> {
    let recorded = if guard::is_grad_enabled() { inputs } else { &[] };
    let edges = recorded.iter().map(|input| history::gradient_edge(input)).collect::<Result<_>>()?;
    let mut ctx = ForwardContext::default();
    let outputs = {
        let _unrecorded = guard::no_grad();
        forward(&mut ctx)?
    };
    link_outputs(edges, outputs, ctx, backward)
}

/// The tensors that the forward of a custom function saves, see [`call_custom_function`].
#[derive(Default)]
pub struct ForwardContext {
    /// The saved tensors, each with its version.
    saved: Vec<(Tensor, u64)>,
}

/// The saved tensors and requested gradients in the backward of a custom function, see [`Backward`].
pub struct BackwardContext<'a> {
    pub(crate) node: &'a Shared<Node>,
    pub(crate) saved: &'a SavedValues,
    pub(crate) needs: &'a [bool],
}

impl ForwardContext {
    /// Saves an input or an output for the backward. It must not be written to until then. Another tensor can be saved too, but gradients
    /// of gradients do not go through it.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_autograd::{Backward, BackwardContext, Differentiable, GradientError, call_custom_function};
    /// use dispatch_runtime::{Result, Tensor};
    ///
    /// struct Square;
    ///
    /// impl Backward for Square {
    ///     fn name(&self) -> String {
    ///         "square".to_owned()
    ///     }
    ///
    ///     fn backward(&self, ctx: &BackwardContext<'_>, gradients: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
    ///         let [Some(gradient)] = gradients else { return Ok(vec![None]) };
    ///         let x = &ctx.saved_tensors()?[0];
    ///         Ok(vec![Some((gradient * &(x * 2.0)?)?)])
    ///     }
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// let x = (Tensor::from([1.0, 2.0]).requires_grad_(true)? * 1.0)?;
    /// let y = call_custom_function(&[&x], Square, |ctx| {
    ///     ctx.save(&x);
    ///     Ok(vec![(&x * &x)?])
    /// })?;
    /// x.clone().mul_(2.0)?;
    /// let error = y[0].sum()?.backward().unwrap_err();
    /// let source = std::error::Error::source(&error).unwrap();
    /// assert!(matches!(source.downcast_ref(), Some(GradientError::SavedTensorModified { .. })));
    /// # Ok(())
    /// # }
    /// ```
    pub fn save(&mut self, tensor: &Tensor) {
        self.saved.push((tensor.clone(), tensor.storage().version()));
    }
}

impl BackwardContext<'_> {
    /// Returns the saved tensors, in the order in which they were saved. In a backward that is itself recorded (`create_graph`), a saved
    /// input has its original history, and the history of a saved output is this function.
    ///
    /// ```
    /// # use dispatch_autograd::BackwardContext;
    /// # use dispatch_runtime::{Result, Tensor};
    /// fn product(ctx: &BackwardContext<'_>, gradient: &Tensor) -> Result<Tensor> {
    ///     let saved = ctx.saved_tensors()?;
    ///     gradient * &(&saved[0] * &saved[1])?
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`GradientError::SavedTensorModified`](crate::GradientError::SavedTensorModified) if a saved tensor was written to since,
    /// and [`GradientError::SavedTensorsFreed`](crate::GradientError::SavedTensorsFreed) if a backward without `retain_graph` has freed
    /// them.
    pub fn saved_tensors(&self) -> Result<Vec<Tensor>> {
        self.saved_tensors_with_names(saved_tensor_name)
    }

    /// Returns the saved tensors, which errors name by `name`.
    pub(crate) fn saved_tensors_with_names(&self, name: impl Fn(usize) -> String) -> Result<Vec<Tensor>> {
        self.saved.unpack(self.node, name)?.iter_mut().map(|saved| unpack_value::<&Tensor>(saved).cloned()).collect()
    }

    /// Whether the gradient of an input is requested. If not, the backward may return `None` for it.
    ///
    /// ```
    /// # use dispatch_autograd::BackwardContext;
    /// # use dispatch_runtime::{Result, Tensor};
    /// fn of_second(ctx: &BackwardContext<'_>, gradient: &Tensor) -> Result<Option<Tensor>> {
    ///     if !ctx.needs_gradient(1) {
    ///         return Ok(None);
    ///     }
    ///     Ok(Some((gradient * &ctx.saved_tensors()?[0])?))
    /// }
    /// ```
    #[must_use]
    pub fn needs_gradient(&self, input: usize) -> bool {
        self.needs.get(input) == Some(&true)
    }
}

/// A custom backward with its saved values.
pub(crate) struct CustomFunction<B: ?Sized> {
    pub(crate) saved: SavedValues,
    pub(crate) backward: B,
}

/// Makes the outputs results of a custom function whose gradients go to `edges`.
pub(crate) fn link_outputs(
    edges: Edges,
    mut outputs: Vec<Tensor>,
    ctx: ForwardContext,
    backward: impl Backward,
) -> Result<Vec<Tensor>> {
    if edges.iter().all(Option::is_none) {
        return Ok(outputs);
    }
    // A saved output is known by its index until it is certain whether it must be copied.
    let mut saved_outputs = Vec::new();
    let mut saved_values = Vec::new();
    for (position, (tensor, version)) in ctx.saved.into_iter().enumerate() {
        // A saved tensor with history is an input that `forward` returned, and the output will be a copy of it. If it was written to since,
        // a backward must be an error.
        let is_fresh = tensor.storage().version() == version && !history::requires_grad(&tensor)?;
        saved_values.push(match (0_u32..).zip(&outputs).find(|(_, output)| is_fresh && output.same(&tensor)) {
            Some((output, _)) => {
                saved_outputs.push((position, output));
                SavedValue::Unneeded
            }
            None => SavedValue::Tensor(SavedTensor::with_version(tensor, version, || {
                (backward.name(), saved_tensor_name(position))
            })?),
        });
    }
    for output in &mut outputs {
        if !output.owns_elements_alone() {
            replace_result_by_copy(output)?;
        }
    }
    for (position, output) in saved_outputs {
        saved_values[position] = SavedValue::Tensor(SavedTensor::from_result(&outputs[output as usize], output)?);
    }
    let outlines = ResultOutlines::Several(outputs.iter().map(TensorOutline::from_tensor).collect());
    let node = Node::new(BackwardFunction::from_custom(backward, SavedValues::new(saved_values)), edges, outlines);
    for (output, i) in outputs.iter_mut().zip(0..) {
        if outline::is_differentiable(output.dtype()) {
            history::set_node(output, node.clone(), i);
        }
    }
    Ok(outputs)
}

fn saved_tensor_name(position: usize) -> String {
    format!("saved tensor {position}")
}
