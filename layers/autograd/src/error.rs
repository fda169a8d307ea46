//! Errors of the autograd layer.

use std::fmt;

use dispatch_runtime::{DType, Device, Error};

/// An error of recording, of a backward pass, or of a write that autograd forbids. It is the `source` of the [`Error`] that the call
/// returns.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_autograd::{Differentiable, GradientError};
/// use dispatch_runtime::{DType, Tensor};
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// let x = Tensor::from([1.0, 2.0]).requires_grad_(true)?;
/// let error = x.backward().unwrap_err();
/// let source = std::error::Error::source(&error).unwrap();
/// assert_eq!(source.downcast_ref(), Some(&GradientError::NotScalar { sizes: vec![2], dtype: DType::F64 }));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum GradientError {
    /// A tensor that a derivative needs was written to after it was saved.
    SavedTensorModified {
        /// The name of the operator or custom function whose derivative needs the tensor.
        operator: String,
        /// The name of the saved argument or result, or the position of a tensor that a custom function saved.
        saved: String,
        /// The sizes of the tensor.
        sizes: Vec<i64>,
        /// The dtype of the tensor.
        dtype: DType,
        /// The version of the tensor when it was saved.
        version: u64,
        /// The current version of the tensor.
        found: u64,
    },
    /// A node's saved tensors were already freed by an earlier backward pass.
    SavedTensorsFreed {
        /// The name of the operator or custom function whose derivative needs the saved tensors.
        operator: String,
    },
    /// An operator in the graph has no derivative.
    NoDerivative {
        /// The name of the operator.
        operator: String,
    },
    /// The gradients of complex singular vectors or eigenvectors depend on their phases, which are arbitrary.
    DependsOnPhase {
        /// The name of the operator that computed the vectors.
        operator: String,
    },
    /// A call would write to a leaf that requires gradients.
    LeafWritten {
        /// The name of the operator.
        operator: String,
        /// The name of the written argument.
        argument: String,
    },
    /// A call would write to a view of a leaf that requires gradients.
    ViewOfLeafWritten {
        /// The name of the operator.
        operator: String,
        /// The name of the written argument.
        argument: String,
    },
    /// A view would be detached in place. It shares the history of its base.
    ViewDetached,
    /// A call would write to a view whose gradient cannot follow the write.
    ViewWritten {
        /// The name of the operator.
        operator: String,
        /// The name of the written argument.
        argument: String,
        /// How the view was made.
        reason: &'static str,
    },
    /// A call outside of inference mode would write to an inference tensor.
    InferenceTensorWritten {
        /// The name of the operator.
        operator: String,
        /// The name of the written argument.
        argument: String,
    },
    /// A derivative would have to save an inference tensor.
    InferenceTensorSaved {
        /// The name of the operator.
        operator: String,
        /// The name of the argument or result to be saved.
        saved: String,
    },
    /// An `out=` variant was called with a tensor that requires gradients.
    OutRequiresGrad {
        /// The name of the operator.
        operator: String,
        /// The name of the argument that requires gradients.
        argument: String,
    },
    /// A tensor to differentiate is neither a leaf that requires gradients nor computed from one.
    NoGraph {
        /// The position of the tensor.
        position: usize,
    },
    /// A backward pass without a seed gradient started from a tensor that does not have exactly one real element.
    NotScalar {
        /// The sizes of the tensor.
        sizes: Vec<i64>,
        /// The dtype of the tensor.
        dtype: DType,
    },
    /// The number of seed gradients differs from the number of tensors.
    WrongSeedCount {
        /// The number of tensors.
        tensors: usize,
        /// The number of seed gradients.
        seeds: usize,
    },
    /// The gradient passed to `set_grad` has other sizes, another dtype or another device than the tensor.
    SetGradientMismatch {
        /// Sizes, dtype and device of the gradient.
        found: (Vec<i64>, DType, Device),
        /// Sizes, dtype and device of the tensor.
        expected: (Vec<i64>, DType, Device),
    },
    /// A gradient's sizes do not reduce to the sizes of its tensor.
    WrongGradientSizes {
        /// The derivative, hook or seed that returned the gradient.
        from: String,
        /// The sizes of the gradient.
        found: Vec<i64>,
        /// The sizes of the tensor.
        expected: Vec<i64>,
    },
    /// A derivative returned another number of gradients than its operator has differentiable inputs.
    WrongGradientCount {
        /// The name of the operator.
        operator: String,
        /// The number of returned gradients.
        found: usize,
        /// The number of differentiable inputs.
        expected: usize,
    },
    /// An input of `grad` has no path to the outputs.
    UnusedInput {
        /// The position of the input.
        position: usize,
    },
    /// A tensor whose dtype is neither floating nor complex was told to require gradients.
    NotDifferentiableDType {
        /// The dtype of the tensor.
        dtype: DType,
    },
    /// A function was differentiated with respect to an input whose dtype is neither floating nor complex.
    NotDifferentiableInput {
        /// The path of the tensor, such as `inputs.0.weight`.
        path: String,
        /// The dtype of the tensor.
        dtype: DType,
    },
    /// `requires_grad_(false)` or `register_post_accumulate_hook` was called on a tensor that was computed from others.
    NotALeaf,
    /// `requires_grad_(true)` was called inside of a transformed function.
    RequiresGradInsideTransform,
    /// The recomputation of a checkpoint captured other tensors than the forward pass.
    CheckpointCaptureMismatch,
    /// A derivative returned NaN in anomaly mode.
    NanGradient {
        /// The name of the operator.
        operator: String,
        /// The position of the gradient.
        position: usize,
    },
}

impl fmt::Display for GradientError {
    #[expect(clippy::too_many_lines, reason = "one text for each error")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SavedTensorModified { operator, saved, sizes, dtype, version, found } => write!(
                f,
                "the derivative of `{operator}` needs its `{saved}` ({dtype} {sizes:?}), which was written to after it was saved: \
                 it was saved at version {version} and is now at version {found}; write to a copy of it (`aten::clone`), or use operators that \
                 do not write in place"
            ),
            Self::SavedTensorsFreed { operator } => write!(
                f,
                "a second backward pass through `{operator}`, whose saved tensors the first pass has freed; call `retain_graph()` for the \
                 first pass, or compute the outputs again"
            ),
            Self::NoDerivative { operator } => write!(
                f,
                "`{operator}` has no derivative, and is not declared as not differentiable; write a derivative (`#[op_grad({})]`), or declare \
                 that it has none (`not_differentiable!({})`), or call it with detached tensors",
                operator.split('.').next().unwrap_or(operator),
                operator.split('.').next().unwrap_or(operator)
            ),
            Self::DependsOnPhase { operator } => write!(
                f,
                "the gradient of `{operator}` does not exist: the differentiated function depends on the phases of the vectors, which are \
                 arbitrary; use a function that does not change if a vector is multiplied by a number of magnitude 1"
            ),
            Self::LeafWritten { operator, argument } => write!(
                f,
                "`{operator}` would write to `{argument}`, a leaf that requires gradients, and its old value would be lost; write under \
                 `autograd::no_grad()`, or use the form of the operator that does not write in place"
            ),
            Self::ViewOfLeafWritten { operator, argument } => write!(
                f,
                "`{operator}` would write to `{argument}`, a view of a leaf that requires gradients; write under `autograd::no_grad()`, or to \
                 a view of a copy (`aten::clone`)"
            ),
            Self::ViewDetached => {
                f.write_str("a view cannot be detached in place, as it shares the history of its base; call `detach`")
            }
            Self::ViewWritten { operator, argument, reason } => write!(
                f,
                "`{operator}` would write to `{argument}`, a view that {reason}, so gradients cannot follow the write; write to the base of \
                 the view, or to a copy (`aten::clone`)"
            ),
            Self::InferenceTensorWritten { operator, argument } => write!(
                f,
                "`{operator}` would write to `{argument}` outside of inference mode, but it was made in inference mode; write to a copy \
                 (`aten::clone`)"
            ),
            Self::InferenceTensorSaved { operator, saved } => write!(
                f,
                "the derivative of `{operator}` needs its `{saved}`, which was made in inference mode and counts no versions; use a copy \
                 (`aten::clone`)"
            ),
            Self::OutRequiresGrad { operator, argument } => write!(
                f,
                "`{operator}` writes its result into an existing tensor, which is not differentiable, but `{argument}` requires gradients; call \
                 the form that returns a new tensor, or detach `{argument}`, or use `autograd::no_grad()`"
            ),
            Self::NoGraph { position } => write!(
                f,
                "tensor {position} does not require gradients and was not computed from a tensor that does; call `requires_grad_(true)` on the \
                 tensors whose gradients you need, before you compute with them"
            ),
            Self::NotScalar { sizes, dtype } => write!(
                f,
                "a backward pass from a tensor of sizes {sizes:?} and dtype {dtype} needs a seed gradient; only one real element has a default \
                 seed, which is 1; reduce the tensor (`sum`, `mean`, `abs`), or pass a seed with `with_seeds(..)`"
            ),
            Self::WrongSeedCount { tensors, seeds } => {
                write!(f, "{seeds} seed gradients for {tensors} tensors; pass one for each tensor")
            }
            Self::SetGradientMismatch { found, expected } => write!(
                f,
                "the gradient of a tensor must have its sizes, dtype and device, here {:?}, {} on {}; the gradient that was set has {:?}, {} \
                 on {}",
                expected.0, expected.1, expected.2, found.0, found.1, found.2
            ),
            Self::WrongGradientSizes { from, found, expected } => write!(
                f,
                "wrong sizes of a gradient from {from}: {found:?} for a tensor of sizes {expected:?}; they must be equal, or reduce to those of \
                 the tensor"
            ),
            Self::WrongGradientCount { operator, found, expected } => write!(
                f,
                "the derivative of `{operator}` returned {found} gradients for {expected} tensors; return one for each tensor, in order"
            ),
            Self::UnusedInput { position } => write!(
                f,
                "the outputs do not depend on input {position}, or the dependence was not recorded; call `allow_unused()` to get `None` for it"
            ),
            Self::NotDifferentiableDType { dtype } => {
                write!(f, "a {dtype} tensor has no gradients; only floating-point and complex tensors have")
            }
            Self::NotDifferentiableInput { path, dtype } => write!(
                f,
                "`{path}` is a {dtype} tensor, which has no gradients; only floating-point and complex tensors have: let the function \
                 capture other tensors, or detach them"
            ),
            Self::NotALeaf => f.write_str(
                "this tensor was computed from others that require gradients, so it requires them too; `detach()` gives a tensor that does not",
            ),
            Self::RequiresGradInsideTransform => f.write_str(
                "`requires_grad_` was called inside of a transformed function, which records only tensors of the transform's own level; use \
                 `functional::grad` or `functional::vjp` there too",
            ),
            Self::CheckpointCaptureMismatch => f.write_str(
                "the function of a `checkpoint` used other tensors that require gradients in the backward pass than in the forward pass; \
                 do not replace captured tensors until then, and create new ones on the thread that calls the function, or pass them as \
                 inputs",
            ),
            Self::NanGradient { operator, position } => {
                write!(f, "the derivative of `{operator}` returned NaN as gradient {position}")
            }
        }
    }
}

impl std::error::Error for GradientError {}

impl From<GradientError> for Error {
    #[cold]
    fn from(error: GradientError) -> Self {
        Self::kernel(error)
    }
}
