//! Errors of the suite itself, such as unreadable recordings. Failures of a backend are no errors here but rows of the report.

use std::fmt;

use dispatch_checks::Failure;

/// A result whose error is the suite's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the suite: a recording cannot be read or decoded, or a tensor cannot be created or read.
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
        /// The path of the file.
        file: String,
        /// The error of the file system.
        source: std::io::Error,
    },
    /// A line of the recordings is not JSON.
    Json {
        /// The line number, counted from 1.
        line: usize,
        /// The error of the JSON parser.
        source: serde_json::Error,
    },
    /// A recording lacks a field.
    MissingField {
        /// The missing field.
        field: &'static str,
    },
    /// A recorded value has an unknown tag.
    UnknownTag {
        /// The unknown tag.
        tag: String,
    },
    /// A recorded value cannot be converted to the schema's type.
    WrongType {
        /// The schema's type.
        ty: String,
        /// The recorded value.
        value: String,
    },
    /// A call cannot be made, or its results cannot be read.
    Check(dispatch_checks::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { file, source } => write!(f, "cannot read the recordings in {file}: {source}"),
            Self::Json { line, source } => write!(f, "line {line} of the recordings is not JSON: {source}"),
            Self::MissingField { field } => write!(f, "a recording lacks {field}"),
            Self::UnknownTag { tag } => write!(f, "a recording holds `{tag}`, which is no kind of value"),
            Self::WrongType { ty, value } => write!(f, "the schema asks for {ty}, and the recording holds {value}"),
            Self::Check(source) => source.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Json { source, .. } => Some(source),
            Self::Check(source) => Some(source),
            _ => None,
        }
    }
}

impl From<dispatch_checks::Error> for Error {
    fn from(error: dispatch_checks::Error) -> Self {
        Self::Check(error)
    }
}

/// A call that cannot be decoded cannot be checked.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Check(error) => error.into(),
            error => Self::NotCheckable(Box::new(error)),
        }
    }
}
