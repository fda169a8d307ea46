//! What can go wrong, and how a program ends then.

use std::fmt;
use std::process::ExitCode;

/// Why there is no answer. It prints as a sentence that says what to do.
///
/// ```
/// let error = dispatch_inspect::find("nobody::home").unwrap_err();
/// assert!(error.to_string().starts_with("no operator is called `nobody::home`"));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// The command line says something that there is not.
    Usage(String),
    /// No operator has this name, or matches this pattern.
    NotFound {
        /// What was asked for.
        name: String,
        /// The operator that was probably meant.
        suggestion: Option<String>,
    },
    /// Several operators have this name.
    Ambiguous {
        /// What was asked for.
        name: String,
        /// All of them.
        candidates: Vec<String>,
    },
    /// A kernel was to be taken away that there is not.
    NoSuchKernel {
        /// The operator.
        operator: String,
        /// The key.
        key: String,
        /// The keys for which there are kernels.
        keys: Vec<String>,
    },
    /// The dispatcher's own error.
    Dispatch(dispatch_runtime::Error),
    /// Something could not be written.
    Io(std::io::Error),
}

impl Failure {
    /// 2 for a command line that is wrong, 1 for all else.
    ///
    /// ```
    /// use dispatch_inspect::Failure;
    /// assert_eq!(Failure::Usage(String::new()).code(), std::process::ExitCode::from(2));
    /// ```
    #[must_use]
    pub fn code(&self) -> ExitCode {
        ExitCode::from(if matches!(self, Self::Usage(_)) { 2 } else { 1 })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(text) => f.write_str(text),
            Self::NotFound { name, suggestion } => {
                write!(f, "no operator is called `{name}`")?;
                match suggestion {
                    Some(suggestion) => write!(f, "; did you mean `{suggestion}`?"),
                    None => f.write_str("; `list` shows those that are linked, and `use that_crate as _;` links more"),
                }
            }
            Self::Ambiguous { name, candidates } => {
                write!(f, "several operators are called `{name}`; name one of them:")?;
                candidates.iter().try_for_each(|candidate| write!(f, "\n  {candidate}"))
            }
            Self::NoSuchKernel { operator, key, keys } if keys.is_empty() => {
                write!(f, "`{operator}` has no kernel for {key} that could be removed, as it has none at all")
            }
            Self::NoSuchKernel { operator, key, keys } => {
                write!(
                    f,
                    "`{operator}` has no kernel for {key} that could be removed; it has some for {}",
                    keys.join(", ")
                )
            }
            Self::Dispatch(error) => error.fmt(f),
            Self::Io(error) => write!(f, "cannot write: {error}"),
        }
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Dispatch(error) => Some(error),
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<dispatch_runtime::Error> for Failure {
    fn from(error: dispatch_runtime::Error) -> Self {
        Self::Dispatch(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}
