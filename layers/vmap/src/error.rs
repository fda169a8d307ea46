//! What cannot be mapped.

use std::fmt;

use dispatch_runtime::Error;

/// Why a function cannot be mapped over a batch.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum VmapError {
    /// No input has a dimension to map over.
    NothingToMap,
    /// There are not as many dimensions as tensors.
    DimCount {
        /// `in_dims` or `out_dims`.
        of: &'static str,
        /// How many there are.
        found: usize,
        /// How many tensors there are.
        tensors: usize,
    },
    /// A tensor does not have the dimension.
    NoDim {
        /// `in_dims` or `out_dims`.
        of: &'static str,
        /// The position of the tensor.
        position: usize,
        /// The dimension.
        dim: i64,
        /// How many the tensor has.
        rank: usize,
    },
    /// Inputs have batches of different sizes.
    BatchSizes {
        /// The size of the first.
        expected: i64,
        /// The position of another.
        position: usize,
        /// Its size.
        found: i64,
    },
    /// There is nothing in the batch.
    EmptyBatch,
    /// A chunk of nothing.
    ChunkSize {
        /// What was asked for.
        chunk_size: i64,
    },
    /// A result differs from slice to slice, and was said not to.
    MappedResult {
        /// The position of the result.
        position: usize,
    },
    /// Random numbers, and nobody said whose.
    Random {
        /// The operator.
        operator: String,
    },
    /// A number was asked of a tensor that has one for each slice, or something else that is no tensor.
    NotATensor {
        /// The operator.
        operator: String,
    },
    /// Sizes that the elements decide would differ from slice to slice.
    DataDependent {
        /// The operator.
        operator: String,
    },
    /// A tensor that is the same for all slices was to be written differently by each.
    WrittenByAll {
        /// The operator.
        operator: String,
        /// The written argument.
        argument: String,
    },
    /// A view, or a handle bound to one, that nobody knows how to batch.
    View {
        /// The operator.
        operator: String,
    },
    /// There is no rule, and loops are refused.
    Slow {
        /// The operator.
        operator: String,
    },
    /// A batch rule gave a tensor whose batch is not where it says.
    Rule {
        /// The operator.
        operator: String,
        /// The sizes of the tensor.
        sizes: Vec<i64>,
        /// Where the batch was to be.
        dim: usize,
        /// How many slices there are.
        expected: i64,
    },
    /// A kernel gave other results than its schema says.
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
