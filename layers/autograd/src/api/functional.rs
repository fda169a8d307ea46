//! Derivatives of functions: transforms that nest with each other and with those of other layers.
//!
//! Inputs and results are trees of tensors ([`TensorTree`](trait@TensorTree)): tensors, tuples, lists, maps, and structs with
//! `#[derive(TensorTree)]`. Gradients have the structure of what they belong to. An error names the tensor by its path, such as `inputs.0.weight`.
//!
//! The result of a transform is differentiable too, by an outer transform and by an ordinary backward pass. A level records only calls with
//! its own tensors: a tensor captured from outside is a constant.

use dispatch_runtime::guard::{self, Guard};
use dispatch_runtime::{IntoTensorTree, KeySet, Marks, Result, Tensor, TensorTree, TreePath, keys};
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

/// Returns the gradient of a function that returns one tensor of one element: for each tensor of the inputs, in the same structure.
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
///
/// let (by_x, by_y) = grad(|(x, y)| x * y, (&x, &Tensor::from(5.0)))?;
/// assert_eq!((by_x.item::<f64>()?, by_y.item::<f64>()?), (5.0, 2.0));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the error of the function, [`GradientError::NotDifferentiableInput`] if the dtype of an input has no gradients, and
/// [`GradientError::NotScalar`] if the result does not have exactly one element.
pub fn grad<I: IntoTensorTree>(f: impl FnOnce(&I::Tree) -> Result<Tensor>, inputs: I) -> Result<I::Tree> {
    value_and_grad(f, inputs).map(|(_, gradient)| gradient)
}

/// Returns the result of a function, and its gradient. The inputs can be the parameters of a network:
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_autograd::functional::value_and_grad;
/// use dispatch_runtime::{Tensor, TensorTree};
///
/// #[derive(TensorTree)]
/// struct Line {
///     slope: Tensor,
///     offset: Tensor,
/// }
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// let line = Line { slope: Tensor::from(2.0), offset: Tensor::from(1.0) };
/// let (x, y) = (Tensor::from([1.0, 3.0]), Tensor::from([3.0, 6.0]));
/// let loss = |line: &Line| (((&x * &line.slope)? + &line.offset)? - &y)?.square()?.sum();
/// let (value, gradient) = value_and_grad(loss, &line)?;
/// assert_eq!(value.item::<f64>()?, 1.0);
/// assert_eq!((gradient.slope.item::<f64>()?, gradient.offset.item::<f64>()?), (6.0, 2.0));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the errors of [`grad`].
pub fn value_and_grad<I: IntoTensorTree>(
    f: impl FnOnce(&I::Tree) -> Result<Tensor>,
    inputs: I,
) -> Result<(Tensor, I::Tree)> {
    let _recording = leave_inference_mode();
    let entered = enter(ReverseMode);
    let inputs = lift_inputs(&entered, "inputs", inputs)?;
    let output = entered.level().lift(&f(&inputs)?);
    if output.geometry().count() != 1 {
        return Err(GradientError::NotScalar { sizes: output.sizes().to_vec(), dtype: output.dtype() }.into());
    }
    let outputs = [&output];
    let request = Differentiation::of_outputs(&outputs).allow_unused();
    let gradient = gradients_or_zeros(&inputs, history::requires_grad(&output)?.then_some(request))?;
    Ok((entered.level().lower(&output), map(&gradient, |tensor| Ok(entered.level().lower(tensor)))?))
}

/// A function that computes gradients of the inputs of a differentiated function from gradients of its results. [`vjp`] makes it.
pub struct Pullback<I, O> {
    inputs: I,
    outputs: O,
}

/// Returns the results of a function, and its pullback. The pullback computes gradients of the inputs from gradients of the results, any
/// number of times. Both have the structure of the function's own inputs and results.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_autograd::functional::vjp;
/// use dispatch_runtime::Tensor;
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// let (x, y) = (Tensor::from([1.0, 2.0]), Tensor::from([3.0, 4.0]));
/// let (product, pullback) = vjp(|(x, y)| x * y, (&x, &y))?;
/// assert_eq!(product.to_vec::<f64>()?, [3.0, 8.0]);
/// let (by_x, by_y) = pullback.call(&Tensor::from([1.0, 10.0]))?;
/// assert_eq!(by_x.to_vec::<f64>()?, [3.0, 40.0]);
/// assert_eq!(by_y.to_vec::<f64>()?, [1.0, 20.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the error of the function, and [`GradientError::NotDifferentiableInput`] if the dtype of an input has no gradients.
pub fn vjp<I: IntoTensorTree, O: TensorTree>(
    f: impl FnOnce(&I::Tree) -> Result<O>,
    inputs: I,
) -> Result<(O, Pullback<I::Tree, O>)> {
    vjp_of("inputs", f, inputs)
}

/// [`vjp`] with another name for the inputs, in errors.
fn vjp_of<I: IntoTensorTree, O: TensorTree>(
    name: &'static str,
    f: impl FnOnce(&I::Tree) -> Result<O>,
    inputs: I,
) -> Result<(O, Pullback<I::Tree, O>)> {
    let _recording = leave_inference_mode();
    let entered = enter(ReverseMode);
    let inputs = lift_inputs(&entered, name, inputs)?;
    let outputs = map(&f(&inputs)?, |tensor| Ok(entered.level().lift(tensor)))?;
    let values = map(&outputs, |tensor| Ok(entered.level().lower(tensor)))?;
    Ok((values, Pullback { inputs, outputs }))
}

impl<I: TensorTree, O: TensorTree> Pullback<I, O> {
    /// Computes the gradients of the inputs from the gradients of the results.
    ///
    /// # Errors
    ///
    /// Returns [`TreeMismatch`](dispatch_runtime::TreeMismatch) or [`GradientError::WrongGradientSizes`] if there is not one gradient of the
    /// right sizes for each result, and the error of a derivative.
    pub fn call(&self, gradients: impl IntoTensorTree<Tree = O>) -> Result<I> {
        self.call_with(("results", "gradients"), &gradients.into_tensor_tree()?)
    }

    /// [`call`](Self::call) with other names for the results and the gradients, in errors.
    fn call_with(&self, (results, name): (&'static str, &'static str), gradients: &O) -> Result<I> {
        self.outputs.check_same_structure(results, gradients, name)?;
        let (mut outputs, mut seeds) = (Vec::new(), Vec::new());
        let pairs = self.outputs.tensors().into_iter().zip(gradients.tensors());
        for ((output, seed), path) in pairs.zip(gradients.leaf_paths()) {
            if output.sizes() != seed.sizes() {
                let (found, expected) = (seed.sizes().to_vec(), output.sizes().to_vec());
                return Err(
                    GradientError::WrongGradientSizes { from: format!("`{name}{path}`"), found, expected }.into()
                );
            }
            if output.requires_grad() {
                outputs.push(output);
                seeds.push(seed);
            }
        }
        let (outputs, seeds): (Vec<&Tensor>, Vec<&Tensor>) = (outputs.iter().collect(), seeds.iter().collect());
        // The level has ended, but the recorded graph still exists. Calls here belong to the levels below, which may differentiate them.
        let request = Differentiation::of_outputs(&outputs).with_seeds(&seeds).create_graph().allow_unused();
        gradients_or_zeros(&self.inputs, Some(request))
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
/// let (x, direction) = (Tensor::from([1.0, 2.0]), Tensor::from([1.0, 0.5]));
/// let (squares, change) = jvp(|x| x * x, &x, &direction)?;
/// assert_eq!(squares.to_vec::<f64>()?, [1.0, 4.0]);
/// assert_eq!(change.to_vec::<f64>()?, [2.0, 2.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the errors of [`vjp`] and of [`Pullback::call`], and [`GradientError::NotDifferentiableInput`] if the dtype of a result has no
/// derivative.
pub fn jvp<I: IntoTensorTree, O: TensorTree>(
    f: impl FnOnce(&I::Tree) -> Result<O>,
    inputs: I,
    tangents: impl IntoTensorTree<Tree = I::Tree>,
) -> Result<(O, O)> {
    let (values, pullback) = vjp(f, inputs)?;
    let zeros = map(&values, |value| TensorOutline::from_tensor(value).zeros())?;
    let (_, forward) = vjp_of("results", |gradients: &O| pullback.call(gradients), &zeros)?;
    let change = forward.call_with(("inputs", "tangents"), &tangents.into_tensor_tree()?)?;
    Ok((values, change))
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

/// Lifts the inputs of the function to its level, and marks them as requiring gradients.
fn lift_inputs<I: IntoTensorTree>(entered: &LevelGuard, name: &str, inputs: I) -> Result<I::Tree> {
    inputs.into_tensor_tree()?.map_tensors(&TreePath::ROOT, &mut |path, x| {
        if !is_differentiable(x.dtype()) {
            let path = format!("{name}{path}");
            return Err(GradientError::NotDifferentiableInput { path, dtype: x.dtype() }.into());
        }
        // A tensor made in inference mode is copied: it counts no versions, which saved tensors need.
        let input = entered.level().lift(&if x.is_inference() { aten::clone(x, None)? } else { x.clone() });
        input.mark(Marks::REQUIRES_GRAD);
        Ok(input)
    })
}

/// Returns the requested gradients of the inputs, and zeros for an input that has none.
fn gradients_or_zeros<I: TensorTree>(inputs: &I, request: Option<Differentiation<'_>>) -> Result<I> {
    let tensors = inputs.tensors();
    let found = match request {
        Some(request) => request.grad(&tensors.iter().collect::<Vec<_>>())?,
        None => vec![None; tensors.len()],
    };
    let zeros = |tensor: &Tensor| TensorOutline::from_tensor(tensor).zeros();
    let gradients = found.into_iter().zip(&tensors).map(|(found, tensor)| found.map_or_else(|| zeros(tensor), Ok));
    inputs.rebuild(gradients.collect::<Result<Vec<_>>>()?)
}

fn map<T: TensorTree>(tree: &T, f: impl Fn(&Tensor) -> Result<Tensor>) -> Result<T> {
    tree.map_tensors(&TreePath::ROOT, &mut |_, tensor| f(tensor))
}
