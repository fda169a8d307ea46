//! The error type of the framework, and its causes as data.
//!
//! [`ErrorKind`] has one variant for each cause, with typed fields. All messages are in `render.rs`. A kernel's own error type is kept
//! whole as the source of [`ErrorKind::Kernel`].

mod argument;
mod expected;
mod explanation;
mod kind;
mod problem;
mod render;

use std::fmt;

use crate::key::{InvalidKey, KeyError, NoFreeKeyIndex, UnknownDevice, UnknownKey};
use crate::name::Name;
use crate::scalar::UnknownDType;

pub use argument::{BadArgument, Reason};
pub use expected::{DTypes, Expected, Sizes};
pub use explanation::{Explanation, KernelSite};
pub use kind::ErrorKind;
pub use problem::Problem;

/// The framework's result type, with [`Error`] as the default error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of a call or a registration. It is one pointer wide, so that results stay in registers.
///
/// ```
/// use dispatch_runtime::{ErrorKind, Operator};
///
/// let error = Operator::find("aten::ad").unwrap_err();
/// assert!(matches!(error.kind(), ErrorKind::UnknownOperator { .. }));
/// ```
pub struct Error(Box<ErrorData>);

struct ErrorData {
    kind: ErrorKind,
    callers: Vec<Name<'static>>,
}

impl Error {
    /// Creates a kernel's error from any error type or from a text.
    ///
    /// ```
    /// use dispatch_runtime::Error;
    /// assert_eq!(Error::kernel("sizes differ").to_string(), "sizes differ");
    /// ```
    #[cold]
    pub fn kernel(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        ErrorKind::Kernel { operator: None, source: source.into() }.into()
    }

    /// Returns the cause of the error.
    #[must_use]
    pub const fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Returns the cause and the list of [`callers`](Self::callers), for changing.
    pub(crate) fn kind_and_callers_mut(&mut self) -> (&mut ErrorKind, &mut Vec<Name<'static>>) {
        let ErrorData { kind, callers } = &mut *self.0;
        (kind, callers)
    }

    /// Returns the operators whose kernels called the failed operator, the innermost first.
    ///
    /// ```
    /// use dispatch_runtime::{Error, Name};
    ///
    /// let [inner, outer] = ["nn::inner", "nn::outer"].map(|name| Name::parse(name).unwrap());
    /// let error = Error::kernel("too big").in_operator(inner).in_operator(outer);
    /// assert_eq!(error.callers(), [outer]);
    /// assert_eq!(error.to_string(), "`nn::inner`: too big\n  called by `nn::outer`");
    /// ```
    #[must_use]
    pub fn callers(&self) -> &[Name<'static>] {
        &self.0.callers
    }

    /// Adds the name of an operator to the error. The first name is that of the failed operator, if it is not known yet; each further name
    /// is that of a caller.
    #[cold]
    #[must_use]
    pub fn in_operator(mut self, name: Name<'static>) -> Self {
        let ErrorData { kind, callers } = &mut *self.0;
        match kind {
            ErrorKind::Kernel { operator: operator @ None, .. } => *operator = Some(name),
            _ if callers.last().copied().or_else(|| kind.operator()) != Some(name) => callers.push(name),
            _ => {}
        }
        self
    }
}

impl From<ErrorKind> for Error {
    #[cold]
    fn from(kind: ErrorKind) -> Self {
        Self(Box::new(ErrorData { kind, callers: Vec::new() }))
    }
}

macro_rules! impl_from_key_errors {
    ($($ty:ty => $variant:ident;)*) => {$(
        impl From<$ty> for Error {
            #[cold]
            fn from(error: $ty) -> Self {
                ErrorKind::$variant(error).into()
            }
        }
    )*};
}

impl_from_key_errors! {
    NoFreeKeyIndex => NoFreeKeyIndex;
    InvalidKey => InvalidKey;
    UnknownKey => UnknownKey;
}

impl From<KeyError> for Error {
    #[cold]
    fn from(error: KeyError) -> Self {
        match error {
            KeyError::NoFreeIndex(full) => full.into(),
            KeyError::Invalid(invalid) => invalid.into(),
            KeyError::NotARuntimeKey(key) => ErrorKind::NotARuntimeKey { key }.into(),
        }
    }
}

macro_rules! impl_from_argument_errors {
    ($($ty:ty)*) => {$(
        impl From<$ty> for Error {
            #[cold]
            fn from(error: $ty) -> Self {
                Self::kernel(error)
            }
        }
    )*};
}

impl_from_argument_errors! { BadArgument UnknownDType UnknownDevice }

impl From<String> for Error {
    #[cold]
    fn from(message: String) -> Self {
        Self::kernel(message)
    }
}

impl From<&str> for Error {
    #[cold]
    fn from(message: &str) -> Self {
        Self::kernel(message)
    }
}

impl From<Box<dyn std::error::Error + Send + Sync>> for Error {
    #[cold]
    fn from(source: Box<dyn std::error::Error + Send + Sync>) -> Self {
        Self::kernel(source)
    }
}

/// For the files of an application. The error does not name the file, so a library reports it with more.
impl From<std::io::Error> for Error {
    #[cold]
    fn from(error: std::io::Error) -> Self {
        Self::kernel(error)
    }
}

impl From<std::convert::Infallible> for Error {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self.kind() {
            ErrorKind::Kernel { source, .. } => Some(&**source),
            ErrorKind::NoFreeKeyIndex(source) => Some(source),
            ErrorKind::InvalidKey(source) => Some(source),
            ErrorKind::UnknownKey(source) => Some(source),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        render::write_message(self.kind(), f)?;
        self.callers().iter().try_for_each(|caller| write!(f, "\n  called by `{caller}`"))
    }
}

/// Prints the message of [`Display`](fmt::Display), so that `unwrap` shows it.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
