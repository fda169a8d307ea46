//! Why the suite itself cannot go on. What a backend gets wrong is no error here but a line in the report.

use std::fmt;

use dispatch_runtime::{AccessError, Device, OutOfStorage};

/// The result of everything that can go wrong here.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a recording cannot be used.
///
/// ```
/// let error = conformance::Error::UnknownTag { tag: "tensro".to_owned() };
/// assert_eq!(error.to_string(), "a recording holds `tensro`, which is no kind of value");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A file of recordings cannot be read.
    Io {
        /// The file.
        file: String,
        /// The reason.
        source: std::io::Error,
    },
    /// A line is not JSON.
    Json {
        /// Which line, counted from 1.
        line: usize,
        /// The reason.
        source: serde_json::Error,
    },
    /// A line lacks something.
    Lacks {
        /// What it lacks.
        what: &'static str,
    },
    /// A value is marked with a word that the suite does not know.
    UnknownTag {
        /// The word.
        tag: String,
    },
    /// A value cannot be what the schema asks for.
    Unfit {
        /// The schema's type.
        ty: String,
        /// The value.
        value: String,
    },
    /// An argument has neither a recorded value nor a default.
    NotGiven {
        /// The argument.
        argument: String,
    },
    /// There is not one stride per size.
    NotAGeometry,
    /// The suite has no way to copy to or from this device.
    NoCopy {
        /// The device.
        device: Device,
        /// The reason.
        source: dispatch_runtime::Error,
    },
    /// A tensor's geometry reaches outside its storage.
    OutOfStorage(Box<OutOfStorage>),
    /// The elements of a result cannot be read.
    Access(AccessError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { file, source } => write!(f, "cannot read the recordings in {file}: {source}"),
            Self::Json { line, source } => write!(f, "line {line} of the recordings is not JSON: {source}"),
            Self::Lacks { what } => write!(f, "a recording lacks {what}"),
            Self::UnknownTag { tag } => write!(f, "a recording holds `{tag}`, which is no kind of value"),
            Self::Unfit { ty, value } => write!(f, "the schema asks for {ty}, and the recording holds {value}"),
            Self::NotGiven { argument } => write!(f, "`{argument}` has neither a recorded value nor a default"),
            Self::NotAGeometry => f.write_str("a recorded tensor has not one stride per size"),
            Self::NoCopy { device, source } => write!(f, "cannot copy to or from {device}: {source}"),
            Self::OutOfStorage(source) => source.fmt(f),
            Self::Access(source) => source.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Json { source, .. } => Some(source),
            Self::NoCopy { source, .. } => Some(source),
            Self::OutOfStorage(source) => Some(&**source),
            Self::Access(source) => Some(source),
            _ => None,
        }
    }
}

impl From<OutOfStorage> for Error {
    fn from(error: OutOfStorage) -> Self {
        Self::OutOfStorage(Box::new(error))
    }
}

impl From<AccessError> for Error {
    fn from(error: AccessError) -> Self {
        Self::Access(error)
    }
}
