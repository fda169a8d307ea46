//! Verdicts: the result of one check of one call, and the reasons of failures.

use std::error::Error as _;
use std::fmt;

use dispatch_autograd::GradientError;
use dispatch_runtime::{DType, ErrorKind, Operator, Value};

use crate::compare::Difference;
use crate::error::Error;

/// The result of one check of one call.
///
/// ```
/// use dispatch_checks::Verdict;
/// assert!(matches!(Verdict::NotApplicable("its result depends on data"), Verdict::NotApplicable(_)));
/// ```
#[derive(Debug)]
pub enum Verdict {
    /// The check passed.
    Passed,
    /// The check failed.
    Failed(Failure),
    /// The operator, or one that it calls, has no kernel or no derivative.
    NotImplemented(String),
    /// The check does not apply to the call, for this reason.
    NotApplicable(&'static str),
}

/// The reason of a failed check.
///
/// ```
/// let failure = dispatch_checks::Failure::Panicked { message: "index out of bounds".to_owned() };
/// assert_eq!(failure.to_string(), "panicked: index out of bounds");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// The call cannot be made, or its results cannot be read.
    NotCheckable(Box<dyn std::error::Error + Send + Sync>),
    /// The call returned an error.
    Refused(dispatch_runtime::Error),
    /// A kernel panicked.
    Panicked {
        /// The message of the panic.
        message: String,
    },
    /// The number of results differs from the schema's.
    WrongResultCount {
        /// The actual number of results.
        actual: usize,
        /// The expected number of results.
        expected: usize,
    },
    /// A result differs from the expected one.
    WrongResult {
        /// The index of the result.
        index: usize,
        /// The first difference.
        difference: Difference,
    },
    /// A result of indices has an index that is out of range or occurs twice.
    InvalidIndices {
        /// The index of the result.
        index: usize,
    },
    /// An argument differs from the expected one after the call.
    WrongArgumentAfterCall {
        /// The name of the argument.
        argument: String,
        /// The first difference.
        difference: Difference,
    },
    /// A gradient differs from the expected one.
    WrongGradient {
        /// The name of the argument with respect to which the gradient was computed.
        argument: String,
        /// The first difference.
        difference: Difference,
    },
    /// A gradient disagrees with finite differences.
    WrongDirectionalDerivative {
        /// The directional derivative by the gradient.
        actual: f64,
        /// The directional derivative by finite differences.
        expected: f64,
        /// The names of the arguments with respect to which the gradient is wrong, if one of them alone shows it.
        arguments: Vec<String>,
    },
    /// An argument was written although the schema says that it is only read.
    UnexpectedWrite {
        /// The name of the argument.
        argument: String,
    },
    /// A result does not share memory with an argument although the schema says so.
    MissingSharing {
        /// The index of the result.
        index: usize,
        /// The name of the argument.
        argument: String,
    },
    /// A result shares memory with an argument although the schema does not say so.
    UnexpectedSharing {
        /// The index of the result.
        index: usize,
        /// The name of the argument.
        argument: String,
    },
    /// A wrong call was not refused.
    NotRefused {
        /// The description of the mistake.
        mistake: String,
    },
    /// Meta refuses a call that the kernel accepts.
    RefusedOnMeta(dispatch_runtime::Error),
    /// A graph is refused with another error than the call that it replaces.
    DifferentError {
        /// The error of the call.
        expected: String,
        /// The error of the graph.
        found: String,
    },
    /// A wrong call was refused with an error that does not name the operator or the argument.
    ErrorWithoutName {
        /// The description of the mistake.
        mistake: String,
        /// The item that the error does not name.
        missing_name: &'static str,
        /// The message of the error.
        message: String,
    },
    /// The check of a derived call failed.
    InDerivedCall {
        /// The difference of the derived call from the reference call, such as a layout or a mistake.
        variant: String,
        /// The reason of the failure.
        failure: Box<Self>,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotCheckable(error) => write!(f, "cannot be checked: {error}"),
            Self::Refused(error) => write!(f, "failed: {error}"),
            Self::Panicked { message } => write!(f, "panicked: {message}"),
            Self::WrongResultCount { actual, expected } => write!(f, "returned {actual} values, expected {expected}"),
            Self::WrongResult { index, difference } => write!(f, "result {index} {difference}"),
            Self::InvalidIndices { index } => {
                write!(f, "result {index} has an index that is out of range or occurs twice")
            }
            Self::WrongArgumentAfterCall { argument, difference } => {
                write!(f, "after the call, `{argument}` {difference}")
            }
            Self::WrongGradient { argument, difference } => write!(f, "the gradient of `{argument}` {difference}"),
            Self::WrongDirectionalDerivative { actual, expected, arguments } => {
                write!(
                    f,
                    "the directional derivative is {actual} by the gradient, and {expected} by finite differences"
                )?;
                if arguments.is_empty() {
                    return Ok(());
                }
                let names: Vec<String> = arguments.iter().map(|name| format!("`{name}`")).collect();
                write!(f, "; wrong with respect to {}", names.join(", "))
            }
            Self::UnexpectedWrite { argument } => {
                write!(f, "wrote to `{argument}`, which its schema declares as read-only")
            }
            Self::MissingSharing { index, argument } => {
                write!(f, "result {index} does not share the memory of `{argument}`")
            }
            Self::UnexpectedSharing { index, argument } => {
                write!(f, "result {index} shares the memory of `{argument}`, which its schema does not declare")
            }
            Self::NotRefused { mistake } => write!(f, "accepted {mistake}"),
            Self::RefusedOnMeta(error) => write!(f, "the kernel accepts the call, and Meta refuses it: {error}"),
            Self::DifferentError { expected, found } => {
                write!(f, "is refused with another error than the call\n  the call: {expected}\n  this: {found}")
            }
            Self::ErrorWithoutName { mistake, missing_name, message } => {
                write!(f, "refused {mistake} with an error that does not name the {missing_name}: {message}")
            }
            Self::InDerivedCall { variant, failure } => write!(f, "{variant}: {failure}"),
        }
    }
}

impl Failure {
    /// Whether the call was refused because the operator has no kernel for double precision, in which gradients are checked.
    pub(crate) fn refuses_double_precision(&self) -> bool {
        match self {
            Self::Refused(error) => {
                matches!(error.kind(), ErrorKind::UnsupportedDType { dtype: DType::F64 | DType::C128, .. })
            }
            Self::InDerivedCall { failure, .. } => failure.refuses_double_precision(),
            _ => false,
        }
    }

    /// Returns the reason of a derivative that is not checked because of [`refuses_double_precision`](Self::refuses_double_precision).
    pub(crate) fn missing_double_precision(&self) -> String {
        format!("gradients are checked in double precision (`float64`), and the call {self}")
    }
}

/// Whether a derivative returned gradients of wrong sizes, or a wrong number of them.
pub(crate) fn is_wrong_gradient(error: &dispatch_runtime::Error) -> bool {
    let cause = error.source().and_then(|source| source.downcast_ref());
    matches!(cause, Some(GradientError::WrongGradientSizes { .. } | GradientError::WrongGradientCount { .. }))
}

/// The reason why a call has no results to compare.
#[derive(Debug)]
pub enum CallError {
    /// A kernel or a derivative is missing, as the message says.
    NotImplemented(String),
    /// The call failed.
    Failed(Failure),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::NotCheckable(Box::new(error))
    }
}

impl<F: Into<Failure>> From<F> for CallError {
    fn from(failure: F) -> Self {
        Self::Failed(failure.into())
    }
}

impl<S: Into<CallError>> From<S> for Verdict {
    fn from(error: S) -> Self {
        match error.into() {
            CallError::NotImplemented(message) => Self::NotImplemented(message),
            CallError::Failed(failure) => Self::Failed(failure),
        }
    }
}

impl Verdict {
    /// Adds the description of the derived call to a failure.
    #[must_use]
    pub fn with_context(self, variant: impl Into<String>) -> Self {
        match self {
            Self::Failed(failure) => {
                Self::Failed(Failure::InDerivedCall { variant: variant.into(), failure: Box::new(failure) })
            }
            other => other,
        }
    }
}

impl<E: Into<CallError>> From<Result<(), E>> for Verdict {
    fn from(result: Result<(), E>) -> Self {
        result.map_or_else(|error| error.into().into(), |()| Self::Passed)
    }
}

/// Calls an operator, and converts a panic to a failure.
pub fn call_catching_panics(operator: &Operator, arguments: Vec<Value>) -> Result<Vec<Value>, CallError> {
    let results = catch_panics(|| operator.call(arguments))?;
    let expected = operator.schema().returns.len();
    if results.len() != expected {
        return Err(Failure::WrongResultCount { actual: results.len(), expected }.into());
    }
    Ok(results)
}

/// Runs a function, and converts an error or a panic to a [`CallError`].
pub(crate) fn catch_panics<T>(what: impl FnOnce() -> dispatch_runtime::Result<T>) -> Result<T, CallError> {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(what)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) if is_not_implemented(&error) => Err(CallError::NotImplemented(error.to_string())),
        Ok(Err(error)) => Err(CallError::Failed(Failure::Refused(error))),
        Err(panic) => Err(CallError::Failed(Failure::Panicked { message: panic_message(&*panic) })),
    }
}

/// Whether an error means that a kernel or a derivative is missing.
fn is_not_implemented(error: &dispatch_runtime::Error) -> bool {
    let cause = error.source().and_then(|source| source.downcast_ref());
    matches!(error.kind(), ErrorKind::NoKernel(_)) || matches!(cause, Some(GradientError::NoDerivative { .. }))
}

/// Returns the message of a panic.
pub fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "(no message)".to_owned())
}
