//! Errors of vmap.

use std::fmt;

use dispatch_runtime::Error;

/// An error of mapping a function over a batch.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum VmapError {
    /// No input has a mapped dimension.
    NothingToMap,
    /// The number of dimensions differs from the number of tensors.
    DimCount {
        /// `in_dims` or `out_dims`.
        of: &'static str,
        /// The number of dimensions.
        found: usize,
        /// The number of tensors.
        tensors: usize,
    },
    /// A tensor does not have the mapped dimension.
    NoDim {
        /// `in_dims` or `out_dims`.
        of: &'static str,
        /// The position of the tensor.
        position: usize,
        /// The dimension.
        dim: i64,
        /// The number of dimensions of the tensor.
        rank: usize,
    },
    /// Inputs have batch dimensions of different sizes.
    BatchSizes {
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
    ChunkSize {
        /// The requested chunk size.
        chunk_size: i64,
    },
    /// A result differs between slices, but `out_dims` gives it no dimension.
    MappedResult {
        /// The position of the result.
        position: usize,
    },
    /// An operator draws random numbers, but the caller did not choose a `Randomness`.
    Random {
        /// The operator.
        operator: String,
    },
    /// An operator returns something other than a tensor, such as a scalar, from a batched tensor.
    NotATensor {
        /// The operator.
        operator: String,
    },
    /// The sizes of the results depend on element values and may differ between slices.
    DataDependent {
        /// The operator.
        operator: String,
    },
    /// A call writes batched values to a tensor that is not batched.
    WrittenByAll {
        /// The operator.
        operator: String,
        /// The written argument.
        argument: String,
    },
    /// An operator returns a view, or a handle bound to one, that has no batch rule.
    View {
        /// The operator.
        operator: String,
    },
    /// An operator has no batch rule, and slow loops are set to be errors.
    Slow {
        /// The operator.
        operator: String,
    },
    /// A batch rule returned a tensor without the batch in the stated dimension.
    Rule {
        /// The operator.
        operator: String,
        /// The sizes of the tensor.
        sizes: Vec<i64>,
        /// The stated batch dimension.
        dim: usize,
        /// The number of slices.
        expected: i64,
    },
    /// A kernel returned other results than its schema declares.
    Results {
        /// The operator.
        operator: String,
    },
}

impl fmt::Display for VmapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingToMap => {
                f.write_str("no input has a dimension to map over; give at least one of them a dimension in `in_dims`")
            }
            Self::DimCount { of, found, tensors } => {
                write!(f, "`{of}` has {found} dimensions for {tensors} tensors; give one for each, or none for 0")
            }
            Self::NoDim { of, position, dim, rank } => {
                write!(f, "`{of}` asks for dimension {dim} of tensor {position}, which has {rank} dimensions")
            }
            Self::BatchSizes { expected, position, found } => write!(
                f,
                "tensor {position} has a batch of {found}, and those before it of {expected}; all mapped dimensions must have one size"
            ),
            Self::EmptyBatch => {
                f.write_str("the batch is empty: the mapped dimension has size 0, so there is no slice to run")
            }
            Self::ChunkSize { chunk_size } => {
                write!(f, "a chunk of {chunk_size} slices is none; `chunk_size` is 1 or more")
            }
            Self::MappedResult { position } => write!(
                f,
                "result {position} differs from slice to slice, but `out_dims` gives it no dimension for them; give it one"
            ),
            Self::Random { operator } => write!(
                f,
                "`{operator}` draws random numbers in a mapped function; say with `randomness` whether they are the `Same` for all slices \
                 or `Different`"
            ),
            Self::NotATensor { operator } => write!(
                f,
                "`{operator}` gives something that is no tensor, of a tensor that stands for a whole batch; a mapped function cannot look at \
                 elements, so use operators such as `where` in place of control flow"
            ),
            Self::DataDependent { operator } => write!(
                f,
                "the sizes that `{operator}` gives depend on elements, and could differ from slice to slice; call it outside of the mapped \
                 function"
            ),
            Self::WrittenByAll { operator, argument } => write!(
                f,
                "`{operator}` was to write to `{argument}`, which is one tensor for all slices, what each slice has its own of; use the \
                 operator that gives a new tensor, or map over `{argument}`"
            ),
            Self::View { operator } => write!(
                f,
                "`{operator}` gives a view that cannot be made for a whole batch at once; give it a rule with `#[op_vmap]`"
            ),
            Self::Slow { operator } => write!(
                f,
                "`{operator}` has no rule for batches, and loops over slices are refused; give it a rule with `#[op_vmap]`, or allow loops \
                 with `set_slow`"
            ),
            Self::Rule { operator, sizes, dim, expected } => write!(
                f,
                "the batch rule of `{operator}` gave a tensor of sizes {sizes:?} with the batch in dimension {dim}, where a batch of \
                 {expected} is not; a result that is the same for all slices is `Mapped::same_for_all`"
            ),
            Self::Results { operator } => write!(f, "`{operator}` gave other results than its schema says"),
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
