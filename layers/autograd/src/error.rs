//! What can go wrong between a forward and a backward.

use std::fmt;

use dispatch_runtime::{DType, Device, Error};

/// Why a gradient cannot be had, or a tensor not be written to. It is the `source` of the [`Error`] that a call gives.
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
        /// The operator or custom function whose derivative it is.
        operator: String,
        /// The argument or result that was saved, or the position of a tensor that a custom function saved.
        saved: String,
        /// Its sizes and dtype.
        sizes: Vec<i64>,
        /// Its dtype.
        dtype: DType,
        /// Its version when it was saved.
        version: u64,
        /// Its version now.
        found: u64,
    },
    /// The saved tensors are gone after a first backward.
    Freed {
        /// The operator or custom function whose derivative needs them.
        operator: String,
    },
    /// Nobody said what the derivative of an operator is.
    NoDerivative {
        /// The operator.
        operator: String,
    },
    /// A leaf that requires gradients was to be written to.
    LeafWritten {
        /// The operator.
        operator: String,
        /// The written argument.
        argument: String,
    },
    /// A view of such a leaf was to be written to.
    ViewOfLeafWritten {
        /// The operator.
        operator: String,
        /// The written argument.
        argument: String,
    },
    /// A view that cannot be written to while gradients are recorded.
    ViewWritten {
        /// The operator.
        operator: String,
        /// The written argument.
        argument: String,
        /// How the view came about.
        because: &'static str,
    },
    /// An inference tensor was to be written to outside of inference mode.
    InferenceWritten {
        /// The operator.
        operator: String,
        /// The written argument.
        argument: String,
    },
    /// A derivative needs an inference tensor.
    InferenceSaved {
        /// The operator.
        operator: String,
        /// The argument or result.
        saved: String,
    },
    /// An `out=` form was called with a tensor that requires gradients.
    OutRequiresGrad {
        /// The operator.
        operator: String,
        /// The argument that requires gradients.
        argument: String,
    },
    /// There is nothing to go back through.
    NoGraph {
        /// Which of the tensors.
        position: usize,
    },
    /// A tensor of several elements, or of none, has no gradient to begin with.
    NotScalar {
        /// Its sizes.
        sizes: Vec<i64>,
        /// Its dtype.
        dtype: DType,
    },
    /// There are not as many gradients to begin with as tensors.
    SeedCount {
        /// How many tensors.
        tensors: usize,
        /// How many gradients.
        seeds: usize,
    },
    /// A gradient was set that is not like its tensor.
    UnlikeTensor {
        /// Sizes, dtype and device of the gradient.
        found: (Vec<i64>, DType, Device),
        /// Those of the tensor.
        expected: (Vec<i64>, DType, Device),
    },
    /// A gradient does not look like what it is the gradient of.
    WrongGradient {
        /// What gave it.
        from: String,
        /// Its sizes.
        found: Vec<i64>,
        /// What they should be.
        expected: Vec<i64>,
    },
    /// A derivative gave another number of gradients than the operator has differentiable inputs.
    GradientCount {
        /// The operator.
        operator: String,
        /// How many it gave.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// An input of `grad` has no part in the outputs.
    Unused {
        /// Which of the inputs.
        position: usize,
    },
    /// Only numbers that vary continuously have gradients.
    NotContinuous {
        /// The dtype of the tensor.
        dtype: DType,
    },
    /// Whether a computed tensor requires gradients follows from what it was computed from.
    NotALeaf,
    /// A tensor was told to require gradients inside of a function that is transformed.
    InsideTransform,
    /// A checkpoint's function used other tensors from outside when it was called again.
    CapturedOthers,
    /// In anomaly mode: a derivative gave NaN.
    NaN {
        /// The operator.
        operator: String,
        /// Which of its gradients.
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
