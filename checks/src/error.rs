//! Errors of checks: the inputs do not fit, a check cannot be made, or checks failed.

use std::fmt;

use dispatch_runtime::{AccessError, Device, OutOfStorage};

use crate::check::Check;
use crate::report::Report;

/// A result whose error is this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a check. [`Error::Failed`] has the report of the failed checks.
///
/// ```
/// use dispatch_checks::{Error, opcheck};
///
/// # use kernels_cpu as _;
/// let error = opcheck(aten::relu::operator(), ()).unwrap_err();
/// assert!(matches!(error, Error::MissingArgument { .. }));
/// assert_eq!(error.to_string(), "`aten::relu` needs an input for its argument `self`");
/// ```
#[non_exhaustive]
pub enum Error {
    /// Checks failed.
    Failed(Box<Report>),
    /// An argument has neither an input nor a default.
    MissingArgument {
        /// The operator.
        operator: String,
        /// The name of the argument.
        argument: String,
    },
    /// An input is for an argument that the operator does not have, or that already has an input.
    UnexpectedInput {
        /// The operator, with its schema.
        operator: String,
        /// The name of the argument, or the number of the input.
        input: String,
    },
    /// The inputs of a function are no tree of tensors.
    Inputs(dispatch_runtime::Error),
    /// A function whose gradients are checked has no input with gradients.
    NoDifferentiableInput,
    /// No result of a function has a gradient.
    NoDifferentiableResult,
    /// A kernel or a derivative is missing, as the message says.
    Missing(String),
    /// A check that [`Report::require`] names was not made.
    NotChecked {
        /// The operator, with its schema.
        operator: String,
        /// The checks that were not made, each with its reasons.
        checks: Vec<(Check, Vec<String>)>,
    },
    /// A function returns other results for the same inputs.
    NotDeterministic,
    /// A function is not smooth, so finite differences do not approximate its derivative.
    NotSmooth,
    /// A tensor does not have one stride per size.
    InvalidGeometry,
    /// Elements cannot be copied to or from a device.
    CopyFailed {
        /// The device.
        device: Device,
        /// The error of the copy.
        source: dispatch_runtime::Error,
    },
    /// A tensor's geometry reaches outside its storage.
    OutsideStorage(Box<OutOfStorage>),
    /// The elements of a tensor cannot be read.
    Access(AccessError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(report) => report.fmt(f),
            Self::MissingArgument { operator, argument } => {
                write!(f, "`{operator}` needs an input for its argument `{argument}`")
            }
            Self::UnexpectedInput { operator, input } => {
                write!(f, "{input} is not needed: the operator is {operator}")
            }
            Self::Inputs(source) => source.fmt(f),
            Self::NoDifferentiableInput => f.write_str(
                "no input has gradients; give at least one floating-point or complex tensor with elements",
            ),
            Self::NoDifferentiableResult => f.write_str(
                "no result has a gradient, because every result is an integer or was computed without gradients; return a floating-point result of differentiable operators",
            ),
            Self::Missing(message) => f.write_str(message),
            Self::NotChecked { operator, checks } => {
                write!(f, "{operator}: required checks were not made")?;
                checks.iter().try_for_each(|(check, reasons)| match &reasons[..] {
                    [] => write!(f, "\n  {check}: it does not apply to these inputs"),
                    reasons => write!(f, "\n  {check}: {}", reasons.join("; ")),
                })
            }
            Self::NotDeterministic => {
                f.write_str("the function returns other results for the same inputs; seed its random numbers inside of it")
            }
            Self::NotSmooth => f.write_str(
                "the function is not smooth at the inputs, nor near them, so finite differences cannot check its derivative, or is computed in less than double precision; give other inputs",
            ),
            Self::InvalidGeometry => f.write_str("a tensor does not have one stride per size"),
            Self::CopyFailed { device, source } => write!(f, "cannot copy to or from {device}: {source}"),
            Self::OutsideStorage(source) => source.fmt(f),
            Self::Access(source) => source.fmt(f),
        }
    }
}

/// Prints the message of [`Display`](fmt::Display), so that a failed test shows it.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Inputs(source) | Self::CopyFailed { source, .. } => Some(source),
            Self::OutsideStorage(source) => Some(&**source),
            Self::Access(source) => Some(source),
            _ => None,
        }
    }
}

impl From<OutOfStorage> for Error {
    fn from(error: OutOfStorage) -> Self {
        Self::OutsideStorage(Box::new(error))
    }
}

impl From<AccessError> for Error {
    fn from(error: AccessError) -> Self {
        Self::Access(error)
    }
}

/// A function that calls operators can return the errors of checks.
impl From<Error> for dispatch_runtime::Error {
    fn from(error: Error) -> Self {
        Self::kernel(error)
    }
}
