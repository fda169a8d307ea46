//! Errors of vmap.

use std::fmt;

use dispatch_runtime::Error;

/// An error of mapping a function over a batch.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum VmapError {
    /// No input has a mapped dimension.
    NoMappedInput,
    /// The number of dimensions differs from the number of tensors.
    WrongDimCount {
        /// The wrong option: `in_dims` or `out_dims`.
        argument: &'static str,
        /// The number of dimensions that the option gives.
        found: usize,
        /// The number of tensors.
        tensors: usize,
    },
    /// A tensor does not have the mapped dimension.
    MissingDim {
        /// The wrong option: `in_dims` or `out_dims`.
        argument: &'static str,
        /// The position of the tensor.
        position: usize,
        /// The missing dimension.
        dim: i64,
        /// The number of dimensions of the tensor.
        rank: usize,
    },
    /// Inputs have batch dimensions of different sizes.
    BatchSizeMismatch {
        /// The batch size of the first mapped input.
        expected: i64,
        /// The position of the input that differs.
        position: usize,
        /// The batch size of that input.
        found: i64,
    },
    /// The batch dimension has size 0.
    EmptyBatch,
    /// The chunk size is 0 or negative.
    InvalidChunkSize {
        /// The requested chunk size.
        chunk_size: i64,
    },
    /// A result differs between slices, but `out_dims` gives it no dimension.
    MappedResultWithoutDim {
        /// The position of the result.
        position: usize,
    },
    /// An operator draws random numbers, but the caller did not choose a `Randomness`.
    RandomnessNotChosen {
        /// The name of the operator.
        operator: String,
    },
    /// An operator returns something other than a tensor, such as a scalar, from a batched tensor.
    NonTensorResult {
        /// The name of the operator.
        operator: String,
    },
    /// The sizes of the results depend on element values and may differ between slices.
    DataDependent {
        /// The name of the operator.
        operator: String,
    },
    /// A call writes batched values to a tensor that is not batched.
    WriteToUnbatched {
        /// The name of the operator.
        operator: String,
        /// The name of the written argument.
        argument: String,
    },
    /// An operator returns a view, or a handle bound to one, that has no batch rule.
    ViewWithoutRule {
        /// The name of the operator.
        operator: String,
    },
    /// An operator has no batch rule, and slow loops are set to be errors.
    SlowLoopRefused {
        /// The name of the operator.
        operator: String,
    },
    /// A batch rule returned a tensor without the batch in the stated dimension.
    WrongRuleBatchDim {
        /// The name of the operator.
        operator: String,
        /// The sizes of the tensor.
        sizes: Vec<i64>,
        /// The stated batch dimension.
        dim: usize,
        /// The number of slices.
        expected: i64,
    },
    /// A kernel returned other results than its schema declares.
    UnexpectedResults {
        /// The name of the operator.
        operator: String,
    },
}

impl fmt::Display for VmapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMappedInput => {
                f.write_str("no input has a dimension to map over; give at least one of them a dimension in `in_dims`")
            }
            Self::WrongDimCount { argument, found, tensors } => {
                write!(f, "`{argument}` has {found} dimensions for {tensors} tensors; give one for each, or none for 0")
            }
            Self::MissingDim { argument, position, dim, rank } => {
                write!(f, "`{argument}` names dimension {dim} of tensor {position}, which has {rank} dimensions")
            }
            Self::BatchSizeMismatch { expected, position, found } => write!(
                f,
                "tensor {position} has a batch of size {found}, and the tensors before it of size {expected}; all mapped dimensions must have \
                 the same size"
            ),
            Self::EmptyBatch => {
                f.write_str("the batch is empty: the mapped dimension has size 0, so there is no slice to run")
            }
            Self::InvalidChunkSize { chunk_size } => {
                write!(f, "`chunk_size` is {chunk_size}, but must be 1 or more")
            }
            Self::MappedResultWithoutDim { position } => {
                write!(f, "result {position} differs between slices, but has no dimension in `out_dims`; add one")
            }
            Self::RandomnessNotChosen { operator } => write!(
                f,
                "`{operator}` draws random numbers in a mapped function; choose with `randomness` whether they are the `Same` for all slices \
                 or `Different`"
            ),
            Self::NonTensorResult { operator } => write!(
                f,
                "`{operator}` returns something other than a tensor, and its argument is a whole batch; a mapped function cannot read elements, \
                 so use operators such as `where` in place of control flow"
            ),
            Self::DataDependent { operator } => write!(
                f,
                "the sizes of the results of `{operator}` depend on elements, and could differ between slices; call it outside of the mapped \
                 function"
            ),
            Self::WriteToUnbatched { operator, argument } => write!(
                f,
                "`{operator}` would write a value for each slice to `{argument}`, which is one tensor for all slices; use the operator that \
                 returns a new tensor, or map over `{argument}`"
            ),
            Self::ViewWithoutRule { operator } => write!(
                f,
                "`{operator}` returns a view that cannot be made for a whole batch at once; define a batch rule with `#[op_vmap]`"
            ),
            Self::SlowLoopRefused { operator } => write!(
                f,
                "`{operator}` has no batch rule, and loops over slices are refused; define a rule with `#[op_vmap]`, or allow loops with \
                 `set_slow_loops`"
            ),
            Self::WrongRuleBatchDim { operator, sizes, dim, expected } => write!(
                f,
                "the batch rule of `{operator}` returned a tensor of sizes {sizes:?}, whose dimension {dim} does not have the batch \
                 size {expected}; use `Mapped::same_for_all` for a result that is the same for all slices"
            ),
            Self::UnexpectedResults { operator } => {
                write!(f, "`{operator}` returned other results than its schema declares")
            }
        }
    }
}

impl std::error::Error for VmapError {}

impl From<VmapError> for Error {
    #[cold]
    fn from(error: VmapError) -> Self {
        Self::kernel(error)
    }
}
