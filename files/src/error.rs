//! The error of this crate: the file, the entry in it, and the problem.

use std::path::{Path, PathBuf};
use std::{error, fmt, io};

use dispatch_runtime::{DType, Error};

/// The error for a file that cannot be loaded or saved.
///
/// ```
/// use dispatch_files::{FileProblem, load_npy};
///
/// let error = load_npy("no/such/file.npy").unwrap_err();
/// assert!(error.to_string().starts_with("`no/such/file.npy`: "));
/// assert!(matches!(*error.problem, FileProblem::Io(_)));
/// ```
#[derive(Debug)]
pub struct FileError {
    /// The file, as the caller named it. It is empty if the bytes were in memory.
    pub path: PathBuf,
    /// The name of the tensor in the file, if the problem is in one of several.
    pub entry: Option<String>,
    /// The problem.
    pub problem: Box<FileProblem>,
}

/// The problem with a file.
///
/// ```
/// use dispatch_files::FileProblem;
/// let problem = FileProblem::Truncated { expected: 24, found: 10 };
/// assert_eq!(problem.to_string(), "the elements have 24 bytes, but 10 are left; the file is cut off, or its header is damaged");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum FileProblem {
    /// The system cannot read or write the file.
    Io(io::Error),
    /// The file does not begin with the mark of an `.npy` file.
    NotNpy,
    /// The file has a version of the `.npy` format that NumPy did not have when this was written.
    NpyVersion {
        /// The version's number.
        major: u8,
        /// The number after the point.
        minor: u8,
    },
    /// The header of an array is damaged.
    NpyHeader {
        /// The text of the header, or the part of it that was read.
        header: String,
        /// The text that should be there.
        expected: &'static str,
    },
    /// The array has elements for which there is no dtype.
    UnsupportedElements {
        /// The format's own name of the type.
        found: String,
    },
    /// The file ends before the last element.
    Truncated {
        /// The number of bytes of all elements.
        expected: u64,
        /// The number of bytes that are left, or the largest number that a compressed entry can have.
        found: u64,
    },
    /// More bytes follow after the last element.
    TrailingBytes,
    /// The sizes are larger than any memory.
    TooLarge {
        /// The sizes in the header.
        sizes: Vec<u64>,
    },
    /// The structure of a file with several tensors is damaged.
    Damaged {
        /// The format of the file.
        format: &'static str,
        /// The error of the library that reads the format.
        source: Box<dyn error::Error + Send + Sync>,
    },
    /// An entry of an archive is no array.
    NotAnArray,
    /// Tensors of this dtype cannot be saved in the format.
    UnsupportedDType {
        /// The dtype of the tensor.
        dtype: DType,
        /// The format.
        format: &'static str,
    },
    /// Two tensors have the same name.
    DuplicateName,
    /// The format uses this name for something else.
    ReservedName,
    /// Readers would take an entry of the metadata for a tied tensor.
    TieInMetadata {
        /// The key of the entry.
        key: String,
    },
    /// A file of an index lacks a tensor that the index finds in it.
    MissingTensor,
    /// An index names a file that is not below its own folder.
    OutsideFolder {
        /// The path of the file in the index.
        file: String,
    },
    /// The file is none of `torch.save`.
    NotPt,
    /// PyTorch wrote the file in the format that it had before version 1.6.
    LegacyPt,
    /// The file is a `TorchScript` program, which has code.
    TorchScript,
    /// A pickle is damaged.
    Pickle {
        /// The number of bytes that were read.
        at: usize,
        /// The thing that should be there.
        expected: &'static str,
    },
    /// A pickle names a function or a class that tensors and plain data do not need.
    ForbiddenGlobal {
        /// The name in Python, with its module.
        name: String,
    },
    /// A pickle has a value that is neither a tensor nor plain data.
    UnsupportedValue {
        /// The value.
        found: String,
    },
    /// The value of a file is no dict, so it has no state dict.
    NotADict {
        /// The type of the value in Python.
        found: &'static str,
    },
    /// A value of a state dict is no tensor.
    NotATensor {
        /// The type of the value in Python.
        found: &'static str,
    },
    /// The elements of the tensor cannot be read, or there is no memory for them.
    Tensor(Error),
}

impl FileError {
    #[cold]
    pub(crate) fn new(path: &Path, problem: impl Into<FileProblem>) -> Self {
        Self { path: path.to_owned(), entry: None, problem: Box::new(problem.into()) }
    }

    #[cold]
    pub(crate) fn in_entry(path: &Path, entry: &str, problem: impl Into<FileProblem>) -> Self {
        Self { entry: Some(entry.to_owned()), ..Self::new(path, problem) }
    }
}

impl From<io::Error> for FileProblem {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Error> for FileProblem {
    fn from(error: Error) -> Self {
        Self::Tensor(error)
    }
}

impl From<FileError> for Error {
    #[cold]
    fn from(error: FileError) -> Self {
        Self::kernel(error)
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.as_os_str().is_empty() {
            f.write_str("bytes in memory")?;
        } else {
            write!(f, "`{}`", self.path.display())?;
        }
        if let Some(entry) = &self.entry {
            write!(f, ", entry `{entry}`")?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl error::Error for FileError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match &*self.problem {
            FileProblem::Io(source) => Some(source),
            FileProblem::Damaged { source, .. } => Some(&**source),
            FileProblem::Tensor(source) => Some(source),
            _ => None,
        }
    }
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::NotNpy => f.write_str("this is no `.npy` file: it does not begin with the mark `\\x93NUMPY`"),
            Self::NpyVersion { major, minor } => {
                write!(
                    f,
                    "version {major}.{minor} of the `.npy` format is unknown; the known ones are 1.0, 2.0 and 3.0"
                )
            }
            Self::NpyHeader { header, expected } => {
                write!(f, "the header of the array is damaged: expected {expected} in {header:?}")
            }
            Self::UnsupportedElements { found } => {
                write!(
                    f,
                    "there is no dtype for elements of type {found}; convert it before it is saved, for example with `astype` in NumPy or `to` in PyTorch"
                )
            }
            Self::Truncated { expected, found } => {
                write!(
                    f,
                    "the elements have {expected} bytes, but {found} are left; the file is cut off, or its header is damaged"
                )
            }
            Self::TrailingBytes => {
                f.write_str("more bytes follow after the last element; save several arrays in one `.npz` file")
            }
            Self::TooLarge { sizes } => write!(f, "an array of sizes {sizes:?} is larger than any memory"),
            Self::Damaged { format, source } => write!(f, "the {format} is damaged: {source}"),
            Self::NotAnArray => f.write_str("this entry of the archive is no array: its name does not end in `.npy`"),
            Self::UnsupportedDType { dtype, format } => {
                write!(
                    f,
                    "{format} have no dtype {dtype}; convert the tensor first, with `.to(DType::F32)` for example"
                )
            }
            Self::DuplicateName => f.write_str("two tensors have this name"),
            Self::ReservedName => f.write_str("the format has another use for this name; give the tensor another one"),
            Self::TieInMetadata { key } => {
                write!(
                    f,
                    "readers would take the entry `{key}` of the metadata for a tied tensor, because its key is the name of a tied \
                     tensor, or its value is the name of a tensor; give it another key or value"
                )
            }
            Self::MissingTensor => f.write_str(
                "the index finds this tensor in the file, which has no such tensor; the two do not belong together",
            ),
            Self::OutsideFolder { file } => {
                write!(
                    f,
                    "the index names the file {file:?}, which is not below the folder of the index; move it there"
                )
            }
            Self::NotPt => f.write_str("this is no file of `torch.save`: it is no zip archive"),
            Self::LegacyPt => f.write_str(
                "the file has the format that PyTorch had before version 1.6; save it again with a newer PyTorch: \
                 `torch.save(torch.load(path), new_path)`",
            ),
            Self::TorchScript => f.write_str(
                "the file is a TorchScript program, which has code; save its tensors alone: \
                 `torch.save(torch.jit.load(path).state_dict(), new_path)`",
            ),
            Self::Pickle { at, expected } => {
                write!(f, "the pickle is damaged before byte {at}: expected {expected}")
            }
            Self::ForbiddenGlobal { name } => {
                write!(
                    f,
                    "the file needs `{name}` of Python, which is not part of tensors and plain data; nothing of it was run. Save tensors and \
                     plain data alone, for example with `torch.save(model.state_dict(), path)`"
                )
            }
            Self::UnsupportedValue { found } => {
                write!(
                    f,
                    "the file has {found}; save tensors, numbers, text, lists and dicts alone, for example with \
                     `torch.save(model.state_dict(), path)`"
                )
            }
            Self::NotADict { found } => {
                write!(
                    f,
                    "the file has a value of type `{found}`, not a dict of tensors; `load_pt_value` loads such files"
                )
            }
            Self::NotATensor { found } => {
                write!(f, "this is a value of type `{found}`, not a tensor; `load_pt_value` loads such files")
            }
            Self::Tensor(error) => error.fmt(f),
        }
    }
}
