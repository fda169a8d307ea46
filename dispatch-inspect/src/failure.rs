//! The errors of the inspector's commands, and their exit codes.

use std::fmt;
use std::process::ExitCode;

/// The reason why a command of the inspector has no answer. It prints as a sentence that says what to do.
///
/// ```
/// let error = dispatch_inspect::find_operator("myops::missing").unwrap_err();
/// assert!(error.to_string().starts_with("no operator is called `myops::missing`"));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// The command line names an unknown command, option, key or argument.
    Usage(String),
    /// No operator has this name, or matches this pattern.
    NotFound {
        /// The name or the pattern.
        name: String,
        /// The operator with the most similar name.
        suggestion: Option<String>,
    },
    /// Several operators have this name.
    Ambiguous {
        /// The name.
        name: String,
        /// The full names of these operators.
        candidates: Vec<String>,
    },
    /// A kernel to be removed does not exist.
    NoSuchKernel {
        /// The name of the operator.
        operator: String,
        /// The key of the kernel.
        key: String,
        /// The keys for which the operator has kernels.
        keys: Vec<String>,
    },
    /// An error of the dispatcher.
    Dispatch(dispatch_runtime::Error),
    /// An answer could not be written.
    Io(std::io::Error),
}

impl Failure {
    /// Returns the exit code: 2 if the command line is wrong, and 1 otherwise.
    ///
    /// ```
    /// use dispatch_inspect::Failure;
    /// assert_eq!(Failure::Usage(String::new()).exit_code(), std::process::ExitCode::from(2));
    /// ```
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
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
