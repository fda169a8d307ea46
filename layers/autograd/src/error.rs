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
    Modified {
        /// The operator or custom function whose derivative needs the tensor.
        operator: String,
        /// The saved argument or result, or the position of a tensor that a custom function saved.
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
    Freed {
        /// The operator or custom function whose derivative needs the saved tensors.
        operator: String,
    },
    /// An operator in the graph has no derivative.
    NoDerivative {
        /// The operator.
        operator: String,
    },
    /// A call would write to a leaf that requires gradients.
    LeafWritten {
        /// The operator.
        operator: String,
        /// The written argument.
        argument: String,
    },
    /// A call would write to a view of a leaf that requires gradients.
    ViewOfLeafWritten {
        /// The operator.
        operator: String,
        /// The written argument.
        argument: String,
    },
    /// A call would write to a view whose gradient cannot follow the write.
    ViewWritten {
        /// The operator.
        operator: String,
        /// The written argument.
        argument: String,
        /// How the view was made.
        because: &'static str,
    },
    /// A call outside of inference mode would write to an inference tensor.
    InferenceWritten {
        /// The operator.
        operator: String,
        /// The written argument.
        argument: String,
    },
    /// A derivative would have to save an inference tensor.
    InferenceSaved {
        /// The operator.
        operator: String,
        /// The argument or result to be saved.
        saved: String,
    },
    /// An `out=` variant was called with a tensor that requires gradients.
    OutRequiresGrad {
        /// The operator.
        operator: String,
        /// The argument that requires gradients.
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
    SeedCount {
        /// The number of tensors.
        tensors: usize,
        /// The number of seed gradients.
        seeds: usize,
    },
    /// The gradient passed to `set_grad` has other sizes, another dtype or another device than the tensor.
    UnlikeTensor {
        /// Sizes, dtype and device of the gradient.
        found: (Vec<i64>, DType, Device),
        /// Sizes, dtype and device of the tensor.
        expected: (Vec<i64>, DType, Device),
    },
    /// A gradient's sizes do not reduce to the sizes of its tensor.
    WrongGradient {
        /// The derivative, hook or seed that returned the gradient.
        from: String,
        /// The sizes of the gradient.
        found: Vec<i64>,
        /// The sizes of the tensor.
        expected: Vec<i64>,
    },
    /// A derivative returned another number of gradients than its operator has differentiable inputs.
    GradientCount {
        /// The operator.
        operator: String,
        /// The number of returned gradients.
        found: usize,
        /// The number of differentiable inputs.
        expected: usize,
    },
    /// An input of `grad` has no path to the outputs.
    Unused {
        /// The position of the input.
        position: usize,
    },
    /// A tensor whose dtype is neither floating nor complex was told to require gradients.
    NotContinuous {
        /// The dtype of the tensor.
        dtype: DType,
    },
    /// `requires_grad_(false)` was called on a tensor that was computed from others.
    NotALeaf,
    /// `requires_grad_(true)` was called inside of a transformed function.
    InsideTransform,
    /// The recomputation of a checkpoint captured other tensors than the forward pass.
    CapturedOthers,
    /// A derivative returned NaN in anomaly mode.
    NaN {
        /// The operator.
        operator: String,
        /// The position of the gradient.
        position: usize,
    },
}

impl fmt::Display for GradientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Modified { operator, saved, sizes, dtype, version, found } => write!(
                f,
                "the derivative of `{operator}` needs its `{saved}` ({dtype} {sizes:?}), which was written to since: it was saved at \
                 version {version} and is at version {found}; write to a copy of it (`aten::clone`), or use operators that do not write in place"
            ),
            Self::Freed { operator } => write!(
                f,
                "a second backward through `{operator}`, whose saved tensors were freed by the first; say `retain_graph()` there, or \
                 compute the outputs again"
            ),
            Self::NoDerivative { operator } => write!(
                f,
                "`{operator}` has no derivative, and nobody said that it needs none; write one (`#[op_grad({})]`), or say so \
                 (`not_differentiable!({})`), or call it with detached tensors",
                operator.split('.').next().unwrap_or(operator),
                operator.split('.').next().unwrap_or(operator)
            ),
            Self::LeafWritten { operator, argument } => write!(
                f,
                "`{operator}` was to write to `{argument}`, a leaf that requires gradients, whose value before would be lost; write under \
                 `guard::no_grad()`, or use the form of the operator that does not write in place"
            ),
            Self::ViewOfLeafWritten { operator, argument } => write!(
                f,
                "`{operator}` was to write to `{argument}`, a view of a leaf that requires gradients; write under `guard::no_grad()`, or to \
                 a view of a copy (`aten::clone`)"
            ),
            Self::ViewWritten { operator, argument, because } => write!(
                f,
                "`{operator}` was to write to `{argument}`, a view that {because}, so its gradient cannot be followed; write to the tensor \
                 it is a view of, or to a copy (`aten::clone`)"
            ),
            Self::InferenceWritten { operator, argument } => write!(
                f,
                "`{operator}` was to write to `{argument}`, which was made in inference mode, outside of it; write to a copy (`aten::clone`)"
            ),
            Self::InferenceSaved { operator, saved } => write!(
                f,
                "the derivative of `{operator}` needs its `{saved}`, which was made in inference mode and counts no versions; use a copy \
                 (`aten::clone`)"
            ),
            Self::OutRequiresGrad { operator, argument } => write!(
                f,
                "`{operator}` writes into a tensor that the caller brought, which is not differentiable, but `{argument}` requires gradients; \
                 call the form that gives a new tensor, or detach it, or use `guard::no_grad()`"
            ),
            Self::NoGraph { position } => write!(
                f,
                "tensor {position} does not require gradients and was not computed from any that does; call `requires_grad_(true)` on the \
                 tensors to differentiate by, before computing with them"
            ),
            Self::NotScalar { sizes, dtype } => write!(
                f,
                "a tensor of sizes {sizes:?} and dtype {dtype} has no gradient to begin with, as only one real element has; reduce it \
                 (`sum`, `mean`, `abs`), or give a gradient with `seeded(..)`"
            ),
            Self::SeedCount { tensors, seeds } => {
                write!(f, "{seeds} gradients to begin with for {tensors} tensors; give one for each")
            }
            Self::UnlikeTensor { found, expected } => write!(
                f,
                "the gradient of a tensor is like it, here of sizes {:?}, {} on {}; the one that was set is of sizes {:?}, {} on {}",
                expected.0, expected.1, expected.2, found.0, found.1, found.2
            ),
            Self::WrongGradient { from, found, expected } => write!(
                f,
                "{from} gave a gradient of sizes {found:?} for a tensor of sizes {expected:?}, to which it does not reduce"
            ),
            Self::GradientCount { operator, found, expected } => write!(
                f,
                "the derivative of `{operator}` gave {found} gradients for {expected} tensors; give one for each tensor, in order"
            ),
            Self::Unused { position } => write!(
                f,
                "input {position} has no part in the outputs, or was not recorded; say `allow_unused()` to get `None` for it"
            ),
            Self::NotContinuous { dtype } => {
                write!(f, "a tensor of {dtype} has no gradients; only floating and complex tensors do")
            }
            Self::NotALeaf => f.write_str(
                "this tensor was computed from others that require gradients, so it requires them too; `detach()` gives a tensor that does not",
            ),
            Self::InsideTransform => f.write_str(
                "`requires_grad_` inside of a function that is transformed: what is computed there belongs to the transform's own level, \
                 which this tensor is no part of; use `functional::grad` or `functional::vjp` there too",
            ),
            Self::CapturedOthers => f.write_str(
                "the function of a `checkpoint` used other tensors that require gradients in the backward than in the forward; let it \
                 capture the same ones until then, and make what it computes itself on the thread that calls it, or pass such tensors as \
                 inputs",
            ),
            Self::NaN { operator, position } => {
                write!(f, "the derivative of `{operator}` gave NaN as gradient {position}")
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
