//! Derivatives of functions: transforms that nest with each other and with those of other layers.
//!
//! The result of a transform is differentiable too, by an outer transform and by an ordinary backward pass. A level records only calls with
//! its own tensors: a tensor captured from outside is a constant.

use dispatch_runtime::guard::{self, Guard};
use dispatch_runtime::{KeySet, Marks, Result, Tensor, keys};
use dispatch_transform::{LevelGuard, Transform, enter};

use crate::TensorOutline;
use crate::api::differentiation::Differentiation;
use crate::error::GradientError;
use crate::graph::history;
use crate::graph::outline::is_differentiable;

/// The reverse-mode transform, whose layer is autograd.
struct ReverseMode;

impl Transform for ReverseMode {
    fn layer_keys(&self) -> KeySet {
        KeySet::layers_of(keys::Autograd) | KeySet::layers_of(keys::ADInplaceOrView)
    }

    fn has_own_grad_mode(&self) -> bool {
        true
    }
}

/// Returns the gradient of a function that returns one tensor of one element.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_autograd::functional::grad;
/// use dispatch_runtime::Tensor;
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// let cube = |x: &Tensor| x * &(x * x)?;
/// let x = Tensor::from(2.0);
/// assert_eq!(grad(cube, &x)?.item::<f64>()?, 12.0);
/// assert_eq!(grad(|x| grad(cube, x), &x)?.item::<f64>()?, 12.0);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the error of the function, [`GradientError::NotDifferentiableDType`] if the dtype of `x` has no gradients, and
/// [`GradientError::NotScalar`] if the result does not have exactly one element.
pub fn grad(f: impl FnOnce(&Tensor) -> Result<Tensor>, x: &Tensor) -> Result<Tensor> {
    value_and_grad(f, x).map(|(_, gradient)| gradient)
}

/// Returns the result of a function, and its gradient.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_autograd::functional::value_and_grad;
/// use dispatch_runtime::Tensor;
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// let (value, gradient) = value_and_grad(|x| (x * x)?.sum(), &Tensor::from([1.0, 3.0]))?;
/// assert_eq!((value.item::<f64>()?, gradient.to_vec::<f64>()?), (10.0, vec![2.0, 6.0]));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the errors of [`grad`].
pub fn value_and_grad(f: impl FnOnce(&Tensor) -> Result<Tensor>, x: &Tensor) -> Result<(Tensor, Tensor)> {
    let _recording = leave_inference_mode();
    let entered = enter(ReverseMode);
    let input = lift_input(&entered, x)?;
    let output = entered.level().lift(&f(&input)?);
    if output.geometry().count() != 1 {
        return Err(GradientError::NotScalar { sizes: output.sizes().to_vec(), dtype: output.dtype() }.into());
    }
    let gradient = if history::requires_grad(&output)? {
        Differentiation::of_outputs(&[&output]).allow_unused().grad(&[&input])?.pop().flatten()
    } else {
        None
    };
    let gradient = match gradient {
        Some(gradient) => gradient,
        None => TensorOutline::from_tensor(&input).zeros()?,
    };
    Ok((entered.level().lower(&output), entered.level().lower(&gradient)))
}

/// A function that computes gradients of the inputs of a differentiated function from gradients of its results. [`vjp`] makes it.
pub struct Pullback {
    inputs: Vec<Tensor>,
    outputs: Vec<Tensor>,
}

/// Returns the results of a function, and its pullback. The pullback computes gradients of the inputs from gradients of the results, any
/// number of times.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_autograd::functional::vjp;
/// use dispatch_runtime::Tensor;
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// let (x, y) = (Tensor::from([1.0, 2.0]), Tensor::from([3.0, 4.0]));
/// let (product, pullback) = vjp(|inputs| Ok(vec![(&inputs[0] * &inputs[1])?]), &[&x, &y])?;
/// let gradients = pullback.call(&[&Tensor::from([1.0, 10.0])])?;
/// assert_eq!(gradients[0].to_vec::<f64>()?, [3.0, 40.0]);
/// assert_eq!(gradients[1].to_vec::<f64>()?, [1.0, 20.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the error of the function, and [`GradientError::NotDifferentiableDType`] if the dtype of an input has no gradients.
pub fn vjp(f: impl FnOnce(&[Tensor]) -> Result<Vec<Tensor>>, inputs: &[&Tensor]) -> Result<(Vec<Tensor>, Pullback)> {
    let _recording = leave_inference_mode();
    let entered = enter(ReverseMode);
    let inputs: Vec<Tensor> = inputs.iter().map(|x| lift_input(&entered, x)).collect::<Result<_>>()?;
    let outputs: Vec<Tensor> = f(&inputs)?.iter().map(|output| entered.level().lift(output)).collect();
    let values = outputs.iter().map(|output| entered.level().lower(output)).collect();
    Ok((values, Pullback { inputs, outputs }))
}

impl Pullback {
    /// Computes the gradients of the inputs from the gradients of the results.
    ///
    /// # Errors
    ///
    /// Returns [`GradientError::WrongSeedCount`] or [`GradientError::WrongGradientSizes`] if there is not one gradient of the right sizes
    /// for each result, and the error of a derivative.
    pub fn call(&self, gradients: &[&Tensor]) -> Result<Vec<Tensor>> {
        if gradients.len() != self.outputs.len() {
            return Err(GradientError::WrongSeedCount { tensors: self.outputs.len(), seeds: gradients.len() }.into());
        }
        let (outputs, seeds): (Vec<&Tensor>, Vec<&Tensor>) =
            self.outputs.iter().zip(gradients).filter(|(output, _)| output.requires_grad()).unzip();
        let inputs: Vec<&Tensor> = self.inputs.iter().collect();
        // The level has ended, but the recorded graph still exists. Calls here belong to the levels below, which may differentiate them.
        let found =
            Differentiation::of_outputs(&outputs).with_seeds(&seeds).create_graph().allow_unused().grad(&inputs)?;
        let zeros = |input: &Tensor| TensorOutline::from_tensor(input).zeros();
        found.into_iter().zip(&self.inputs).map(|(gradient, input)| gradient.map_or_else(|| zeros(input), Ok)).collect()
    }
}

/// Returns the results of a function, and their directional derivative along `tangents`. It is computed as the pullback of the pullback,
/// which is linear.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_autograd::functional::jvp;
/// use dispatch_runtime::Tensor;
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// let x = Tensor::from([1.0, 2.0]);
/// let (squares, change) = jvp(|inputs| Ok(vec![(&inputs[0] * &inputs[0])?]), &[&x], &[&Tensor::from([1.0, 0.5])])?;
/// assert_eq!(squares[0].to_vec::<f64>()?, [1.0, 4.0]);
/// assert_eq!(change[0].to_vec::<f64>()?, [2.0, 2.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the errors of [`vjp`] and of [`Pullback::call`].
pub fn jvp(
    f: impl FnOnce(&[Tensor]) -> Result<Vec<Tensor>>,
    inputs: &[&Tensor],
    tangents: &[&Tensor],
) -> Result<(Vec<Tensor>, Vec<Tensor>)> {
    let (values, pullback) = vjp(f, inputs)?;
    let zeros: Vec<Tensor> =
        values.iter().map(|value| TensorOutline::from_tensor(value).zeros()).collect::<Result<_>>()?;
    let back = |gradients: &[Tensor]| pullback.call(&gradients.iter().collect::<Vec<_>>());
    let (_, forward) = vjp(back, &zeros.iter().collect::<Vec<_>>())?;
    Ok((values, forward.call(tangents)?))
}

/// Leaves inference mode, if the thread is in it, so that a level can record. The levels below still record nothing.
fn leave_inference_mode() -> Option<[Guard; 2]> {
    let autograd = KeySet::layers_of(keys::Autograd);
    guard::is_inference_mode().then(|| {
        let include = guard::included() | KeySet::from(keys::ADInplaceOrView);
        let left = guard::force_key_sets(include, guard::excluded() - autograd);
        [guard::no_grad(), left]
    })
}

/// Lifts an input of the function to its level, and marks it as requiring gradients.
fn lift_input(entered: &LevelGuard, x: &Tensor) -> Result<Tensor> {
    if !is_differentiable(x.dtype()) {
        return Err(GradientError::NotDifferentiableDType { dtype: x.dtype() }.into());
    }
    // A tensor made in inference mode is copied: it counts no versions, which saved tensors need.
    let input = entered.level().lift(&if x.is_inference() { aten::clone(x, None)? } else { x.clone() });
    input.mark(Marks::REQUIRES_GRAD);
    Ok(input)
}
