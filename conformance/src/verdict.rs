//! What one check of one call found.

use std::error::Error as _;
use std::fmt;

use dispatch_autograd::GradientError;
use dispatch_runtime::{ErrorKind, Operator, Value};

use crate::compare::Difference;
use crate::error::Error;

/// What a check found.
///
/// ```
/// use conformance::Verdict;
/// assert!(matches!(Verdict::LeftOut("its result depends on data"), Verdict::LeftOut(_)));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Verdict {
    /// All is as it should be.
    Passed,
    /// Something is not.
    Failed(Failure),
    /// The operator, or one that it is made of, has no kernel here.
    NotImplemented(String),
    /// The check says nothing about this call, and why.
    LeftOut(&'static str),
}

/// What is wrong.
///
/// ```
/// let failure = conformance::Failure::Panicked { message: "index out of bounds".to_owned() };
/// assert_eq!(failure.to_string(), "panicked: index out of bounds");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// The suite cannot make the call or read its results.
    Suite(Error),
    /// The call failed.
    Refused(dispatch_runtime::Error),
    /// A kernel panicked.
    Panicked {
        /// What it said.
        message: String,
    },
    /// There are not as many results as the schema promises.
    Results {
        /// How many there are.
        actual: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A result is not the expected one.
    Result {
        /// Which.
        index: usize,
        /// How it differs.
        difference: Difference,
    },
    /// A result that tells positions has one that does not exist, or one twice.
    Positions {
        /// Which.
        index: usize,
    },
    /// An argument is not what it should be after the call.
    Argument {
        /// Which.
        argument: String,
        /// How it differs.
        difference: Difference,
    },
    /// A gradient is not what it should be.
    Gradient {
        /// By which tensor.
        of: String,
        /// How it differs.
        difference: Difference,
    },
    /// A gradient is not the slope that differences show.
    Slope {
        /// The slope along some direction by the gradient.
        actual: f64,
        /// The slope by differences.
        expected: f64,
    },
    /// An argument that the schema says is only read was written to.
    Touched {
        /// Which.
        argument: String,
    },
    /// A result does not share the memory of the argument that the schema says it shares.
    NotShared {
        /// The result.
        index: usize,
        /// The argument.
        argument: String,
    },
    /// A result shares memory that the schema says nothing of.
    Shared {
        /// The result.
        index: usize,
        /// The argument.
        argument: String,
    },
    /// A call that is a mistake was not refused.
    NotRefused {
        /// The mistake.
        mistake: String,
    },
    /// A call is refused, and with another error than the one that it stands for.
    Otherwise {
        /// What is said of that one.
        expected: String,
        /// What is said of this one.
        found: String,
    },
    /// A mistake was refused with an error that does not say where it is.
    Unnamed {
        /// The mistake.
        mistake: String,
        /// What the error lacks.
        lacks: &'static str,
        /// The error.
        message: String,
    },
    /// A derived call differs from the call that it was derived from.
    Derived {
        /// What was derived.
        variant: String,
        /// What is wrong with it.
        failure: Box<Self>,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Suite(error) => write!(f, "cannot be checked: {error}"),
            Self::Refused(error) => write!(f, "failed: {error}"),
            Self::Panicked { message } => write!(f, "panicked: {message}"),
            Self::Results { actual, expected } => write!(f, "returned {actual} values, expected {expected}"),
            Self::Result { index, difference } => write!(f, "result {index} {difference}"),
            Self::Positions { index } => write!(f, "result {index} tells a position that does not exist, or one twice"),
            Self::Argument { argument, difference } => write!(f, "afterwards `{argument}` {difference}"),
            Self::Gradient { of, difference } => write!(f, "the gradient of `{of}` {difference}"),
            Self::Slope { actual, expected } => {
                write!(f, "the gradient gives a slope of {actual} along some direction, differences give {expected}")
            }
            Self::Touched { argument } => write!(f, "wrote to `{argument}`, which its schema only reads"),
            Self::NotShared { index, argument } => {
                write!(f, "result {index} does not share the memory of `{argument}`")
            }
            Self::Shared { index, argument } => {
                write!(f, "result {index} shares the memory of `{argument}`, of which its schema says nothing")
            }
            Self::NotRefused { mistake } => write!(f, "accepted {mistake}"),
            Self::Otherwise { expected, found } => {
                write!(f, "is refused with another error than the call\n  the call: {expected}\n  this: {found}")
            }
            Self::Unnamed { mistake, lacks, message } => {
                write!(f, "refused {mistake} with an error that does not name the {lacks}: {message}")
            }
            Self::Derived { variant, failure } => write!(f, "{variant}: {failure}"),
        }
    }
}

/// Why a call gave no results.
#[derive(Debug)]
pub(crate) enum Stop {
    NotImplemented(String),
    Failed(Failure),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Suite(error)
    }
}

impl<F: Into<Failure>> From<F> for Stop {
    fn from(failure: F) -> Self {
        Self::Failed(failure.into())
    }
}

impl<S: Into<Stop>> From<S> for Verdict {
    fn from(stop: S) -> Self {
        match stop.into() {
            Stop::NotImplemented(message) => Self::NotImplemented(message),
            Stop::Failed(failure) => Self::Failed(failure),
        }
    }
}

impl Verdict {
    /// Says which derived call this was found out about.
    pub(crate) fn of(self, variant: impl Into<String>) -> Self {
        match self {
            Self::Failed(failure) => {
                Self::Failed(Failure::Derived { variant: variant.into(), failure: Box::new(failure) })
            }
            other => other,
        }
    }
}

impl<E: Into<Stop>> From<Result<(), E>> for Verdict {
    fn from(result: Result<(), E>) -> Self {
        result.map_or_else(|error| error.into().into(), |()| Self::Passed)
    }
}

/// Calls an operator. A panic stops this call and no other.
pub(crate) fn invoke(operator: &Operator, arguments: Vec<Value>) -> Result<Vec<Value>, Stop> {
    let results = attempt(|| operator.call(arguments))?;
    let expected = operator.schema().returns.len();
    if results.len() != expected {
        return Err(Failure::Results { actual: results.len(), expected }.into());
    }
    Ok(results)
}

/// Does what may fail, panic, or turn out not to be there.
pub(crate) fn attempt<T>(what: impl FnOnce() -> dispatch_runtime::Result<T>) -> Result<T, Stop> {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(what)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) if is_missing(&error) => Err(Stop::NotImplemented(error.to_string())),
        Ok(Err(error)) => Err(Stop::Failed(Failure::Refused(error))),
        Err(panic) => Err(Stop::Failed(Failure::Panicked { message: said(&*panic) })),
    }
}

/// Whether there is no kernel, or no derivative.
fn is_missing(error: &dispatch_runtime::Error) -> bool {
    let cause = error.source().and_then(|source| source.downcast_ref());
    matches!(error.kind(), ErrorKind::NoKernel(_)) || matches!(cause, Some(GradientError::NoDerivative { .. }))
}

/// What a panic said.
pub(crate) fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "(no message)".to_owned())
}
