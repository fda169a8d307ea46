//! Errors of data loading.

use std::{error, fmt};

use dispatch_runtime::Error;

/// An error of data loading.
///
/// ```
/// use dispatch_nn::data::DataError;
/// let error = DataError::IndexOutOfRange { index: 5, len: 3 };
/// assert_eq!(error.to_string(), "there is no item 5; the dataset has 3 items");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum DataError {
    /// The dataset has no item of this index.
    IndexOutOfRange {
        /// The index.
        index: usize,
        /// The number of items.
        len: usize,
    },
    /// The dataset returned an error for an item.
    Item {
        /// The index of the item.
        index: usize,
        /// The error.
        source: Error,
    },
    /// A worker panicked.
    WorkerPanicked {
        /// The number of the batch in its epoch.
        batch: usize,
        /// The message of the panic.
        message: String,
    },
    /// The system could not start a worker, or a worker ended.
    NoWorker,
    /// The items of a batch are lists of different lengths.
    UnequalLengths {
        /// The length of the first list.
        first: usize,
        /// Another length.
        other: usize,
    },
    /// The batch has no items.
    EmptyBatch,
    /// The tensors of a dataset have different numbers of rows.
    UnequalRows {
        /// The number of rows of each tensor.
        rows: Vec<i64>,
    },
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IndexOutOfRange { index, len } => write!(f, "there is no item {index}; the dataset has {len} items"),
            Self::Item { index, source } => write!(f, "item {index} of the dataset: {source}"),
            Self::WorkerPanicked { batch, message } => {
                write!(
                    f,
                    "a worker panicked in batch {batch}: {message}; set `num_workers: 0` for a backtrace of the caller's thread"
                )
            }
            Self::NoWorker => f.write_str("a worker of the data loader has ended early"),
            Self::UnequalLengths { first, other } => write!(
                f,
                "the items of a batch are lists of {first} and {other} elements, which cannot be stacked; pad them, or use \
                 `DataLoader::with_collate`"
            ),
            Self::EmptyBatch => f.write_str("a batch without items cannot be stacked"),
            Self::UnequalRows { rows } => {
                write!(f, "the tensors of the dataset have {rows:?} rows; each needs one row for each item")
            }
        }
    }
}

impl error::Error for DataError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Item { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<DataError> for Error {
    #[cold]
    fn from(error: DataError) -> Self {
        Self::kernel(error)
    }
}
