//! What can go wrong, as one type.
//!
//! A variant per cause, with typed fields; the words are in one place, `render.rs`. A kernel of a backend or a layer brings its
//! own error type, which is kept whole as the source.

mod argument;
mod expected;
mod problem;
mod render;

use std::borrow::Cow;
use std::fmt;

use dispatch_schema::SyntaxErrors;

use crate::call::RustOperator;
use crate::introspection::{Explanation, Site};
use crate::key::{Device, InvalidKey, Key, KeyError, KeySet, LandingFull, UnknownDevice, UnknownKey};
use crate::location::Location;
use crate::name::Name;
use crate::operator::Operator;
use crate::scalar::UnknownDType;

pub use argument::{BadArgument, Reason};
pub use expected::{DTypes, Expected, Sizes};
pub use problem::Problem;
pub(crate) use render::listed;

/// The result of everything that can go wrong here.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call or a registration failed. One word, so that results stay in registers.
///
/// ```
/// use dispatch_runtime::{ErrorKind, Operator};
///
/// let error = Operator::find("aten::ad").unwrap_err();
/// assert!(matches!(error.kind(), ErrorKind::UnknownOperator { .. }));
/// ```
pub struct Error(Box<Failure>);

struct Failure {
    kind: ErrorKind,
    callers: Vec<Name<'static>>,
}

/// The cause of an [`Error`].
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No kernel serves the call's keys.
    NoKernel(Box<Explanation>),
    /// An implicit composite and a kernel of a storage both could serve `AutogradOther`.
    Ambiguous(Box<Explanation>),
    /// Several kernels were registered for one key of one operator, and none says `override`.
    DuplicateKernel {
        /// The operator.
        operator: Name<'static>,
        /// The key.
        key: Key,
        /// The kernels: their names and where they are.
        kernels: Vec<(&'static str, Location)>,
    },
    /// Several kernels carry conditions for one key, and none is fit for the call.
    NoneFits {
        /// The operator.
        operator: Name<'static>,
        /// The key.
        key: Key,
        /// The conditions that did not hold, and where their kernels are.
        conditions: Vec<(&'static str, Location)>,
    },
    /// Several crates define one operator.
    DuplicateOperator {
        /// The operator.
        operator: Name<'static>,
        /// The definitions.
        locations: Vec<Location>,
    },
    /// Several fallbacks were registered for one key.
    DuplicateFallback {
        /// The key.
        key: Key,
        /// The fallbacks: their names and where they are.
        fallbacks: Vec<(&'static str, Location)>,
    },
    /// No operator has this name.
    UnknownOperator {
        /// The name.
        name: String,
        /// The Cargo feature that brings it, and is off.
        feature: Option<&'static str>,
        /// The operators of this name, which have overloads.
        overloads: Vec<String>,
        /// The name that was probably meant.
        suggestion: Option<String>,
    },
    /// A registrar was made for a namespace that no schema can spell.
    UnfitNamespace {
        /// The namespace.
        namespace: String,
    },
    /// Kernels were registered for a name that no crate defines.
    NotDefined {
        /// The name.
        operator: Name<'static>,
        /// The kernels.
        kernels: Vec<Location>,
    },
    /// The definition was removed, and another one has its name.
    Redefined {
        /// The name.
        operator: Name<'static>,
        /// The definition that was called.
        location: Location,
        /// The one that has its name.
        by: Location,
    },
    /// A function or a typed kernel was asked for that is not of the operator's type.
    OtherFunction {
        /// The operator.
        operator: Name<'static>,
        /// The type of its function.
        expected: String,
        /// The type that was asked for.
        found: &'static str,
    },
    /// A function or a typed kernel was asked for of an operator that has boxed calls alone.
    NoFunction {
        /// The operator.
        operator: Name<'static>,
        /// Its definition.
        location: Location,
    },
    /// A boxed call with too few values on the stack.
    TooFewArguments {
        /// The operator.
        operator: Name<'static>,
        /// How many it takes.
        expected: usize,
        /// How many there were.
        found: usize,
    },
    /// A call with more arguments than the operator takes.
    TooManyArguments {
        /// The operator.
        operator: Name<'static>,
        /// How many it takes.
        expected: usize,
        /// How many there were.
        found: usize,
    },
    /// A value of the wrong kind in a boxed call.
    WrongArgument {
        /// The operator.
        operator: Name<'static>,
        /// The argument, counted from 0.
        position: usize,
        /// Its name.
        argument: String,
        /// The kind that the schema asks for.
        expected: &'static str,
        /// The kind that was found.
        found: &'static str,
    },
    /// A boxed kernel left the wrong results on the stack.
    WrongResult {
        /// The operator.
        operator: Name<'static>,
        /// The kind that the schema promises.
        expected: &'static str,
        /// What was found; none where there were too few values.
        found: Option<&'static str>,
        /// The kernel.
        kernel: Option<Box<Site>>,
    },
    /// A boxed kernel left more on the stack than its results: arguments that it did not take off, or results too many.
    SurplusResults {
        /// The operator.
        operator: Name<'static>,
        /// How many results it has.
        expected: usize,
        /// How many values were left.
        found: usize,
        /// The kernel.
        kernel: Option<Box<Site>>,
    },
    /// In a boxed call, a kernel bound a written argument to another tensor, and the schema does not return it.
    LostHandle {
        /// The operator.
        operator: Name<'static>,
        /// The argument.
        argument: String,
    },
    /// A kernel over several dtypes met another one.
    UnsupportedDType {
        /// The operator.
        operator: Name<'static>,
        /// The argument that decides.
        argument: &'static str,
        /// Its dtype.
        dtype: crate::scalar::DType,
        /// The dtypes that the kernel supports.
        supported: &'static [crate::scalar::DType],
    },
    /// A schema has mistakes.
    Schema {
        /// The schema.
        text: String,
        /// All of them.
        errors: SyntaxErrors,
    },
    /// A schema cannot be an operator's.
    UnfitSchema {
        /// The schema.
        text: String,
        /// Why not.
        reason: &'static str,
    },
    /// A name belongs to another namespace than its registrar's.
    WrongNamespace {
        /// The name.
        name: String,
        /// The registrar's namespace.
        namespace: String,
    },
    /// A fallback or a call is for a key that is not one runtime key, or a kernel for a layer that wants a backend.
    NotARuntimeKey {
        /// The key.
        key: Key,
    },
    /// A kernel was taken away before it was called through its handle.
    KernelRemoved {
        /// The operator.
        operator: Name<'static>,
    },
    /// What the results look like depends on elements, and Meta tensors have none.
    DataDependent {
        /// The operator.
        operator: Name<'static>,
    },
    /// Nobody said what the results look like.
    NoShape {
        /// The operator.
        operator: Name<'static>,
    },
    /// No crate of the program gives a device memory.
    NoBackend {
        /// The device.
        device: Device,
        /// The devices there are.
        linked: Vec<Device>,
    },
    /// A backend has fewer devices than a device's number says.
    NoDevice {
        /// The device.
        device: Device,
        /// How many the backend has.
        count: usize,
        /// The devices there are.
        linked: Vec<Device>,
    },
    /// A backend was asked for memory and gave too little, or memory of another backend.
    WrongStorage {
        /// The device.
        device: Device,
        /// How many bytes were asked for.
        size: usize,
        /// The device of the memory that the backend gave.
        found: Device,
        /// How many bytes that memory has.
        available: usize,
    },
    /// A layer handed a call on to itself, again and again.
    EndlessRedispatch {
        /// The operator.
        operator: Name<'static>,
        /// The key whose kernel was entered last.
        key: Option<Key>,
        /// How many redispatches were inside of each other.
        depth: u32,
    },
    /// A kernel was written for another operator of the same name.
    ForeignKernel {
        /// The operator.
        operator: Name<'static>,
        /// Its definition.
        location: Location,
        /// The kernels: their names and where they are.
        kernels: Vec<(&'static str, Location)>,
    },
    /// No operator of the program stands for one of Rust's.
    Unclaimed {
        /// Rust's operator.
        of: RustOperator,
    },
    /// A key has no place.
    Key(LandingFull),
    /// A layer was put on something that is not a backend, or something else on a backend.
    InvalidKey(InvalidKey),
    /// A word is not a key.
    UnknownKey(UnknownKey),
    /// A kernel failed for a reason of its own, or of a tensor's: an [`AccessError`], for instance, is the `source` here.
    Kernel {
        /// The operator, where it is known.
        operator: Option<Name<'static>>,
        /// The reason.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl ErrorKind {
    /// The operator that failed, where there is one.
    ///
    /// ```
    /// use dispatch_runtime::Operator;
    ///
    /// assert_eq!(Operator::find("aten::ad").unwrap_err().kind().operator(), None);
    /// ```
    #[must_use]
    pub fn operator(&self) -> Option<Name<'static>> {
        match self {
            Self::NoKernel(explanation) | Self::Ambiguous(explanation) => Some(explanation.operator),
            Self::DuplicateKernel { operator, .. }
            | Self::NoneFits { operator, .. }
            | Self::DuplicateOperator { operator, .. }
            | Self::NotDefined { operator, .. }
            | Self::Redefined { operator, .. }
            | Self::OtherFunction { operator, .. }
            | Self::NoFunction { operator, .. }
            | Self::TooFewArguments { operator, .. }
            | Self::TooManyArguments { operator, .. }
            | Self::WrongArgument { operator, .. }
            | Self::WrongResult { operator, .. }
            | Self::SurplusResults { operator, .. }
            | Self::LostHandle { operator, .. }
            | Self::EndlessRedispatch { operator, .. }
            | Self::ForeignKernel { operator, .. }
            | Self::UnsupportedDType { operator, .. }
            | Self::KernelRemoved { operator }
            | Self::DataDependent { operator }
            | Self::NoShape { operator } => Some(*operator),
            Self::Kernel { operator, .. } => *operator,
            _ => None,
        }
    }
}

impl Error {
    /// An error of a kernel's own: any error type, or a plain text.
    ///
    /// ```
    /// use dispatch_runtime::Error;
    /// assert_eq!(Error::kernel("sizes differ").to_string(), "sizes differ");
    /// ```
    #[cold]
    pub fn kernel(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        ErrorKind::Kernel { operator: None, source: source.into() }.into()
    }

    /// The cause.
    #[must_use]
    pub const fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The cause, and the operators that [`callers`](Self::callers) gives.
    pub(crate) fn parts_mut(&mut self) -> (&mut ErrorKind, &mut Vec<Name<'static>>) {
        let Failure { kind, callers } = &mut *self.0;
        (kind, callers)
    }

    /// The operators whose kernels called the one that failed, the innermost first.
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

    /// Says whose kernel failed: the operator, where that is not known yet, and then each that called it.
    #[cold]
    #[must_use]
    pub fn in_operator(mut self, name: Name<'static>) -> Self {
        let Failure { kind, callers } = &mut *self.0;
        match kind {
            ErrorKind::Kernel { operator: operator @ None, .. } => *operator = Some(name),
            _ if callers.last().copied().or_else(|| kind.operator()) != Some(name) => callers.push(name),
            _ => {}
        }
        self
    }
}

impl Error {
    /// The error of wrong results, with the boxed kernel that left them in a call with these keys.
    #[cold]
    pub(crate) fn left_by_kernel(mut self, operator: &Operator, keys: KeySet) -> Self {
        if let (ErrorKind::WrongResult { kernel, .. } | ErrorKind::SurplusResults { kernel, .. }, _) = self.parts_mut()
        {
            *kernel = operator.explain_redispatch(keys, &[]).winner.map(Box::new);
        }
        self
    }

    /// Adds the operator whose boxed kernel the error came through, if the error names the operator that it arose in.
    #[cold]
    #[inline(never)]
    pub(crate) fn through(self, operator: &Operator) -> Self {
        if self.kind().operator().is_some() { self.in_operator(operator.name()) } else { self }
    }

    /// The error of a kernel of `functional` in a call of `form`: it names the form, and `output` if the kernel names an argument that the
    /// form does not have.
    #[cold]
    pub(crate) fn in_form(self, functional: Name<'static>, form: &Operator, output: &str) -> Self {
        let argument = |argument: &str| form.schema().argument(argument).is_none().then(|| output.to_owned().into());
        self.in_name_of(functional, form, argument)
    }

    /// The error of `callee`, or of a form of it, in a call of `operator`, which is a call of that. It names `operator`, and its arguments:
    /// `names` has one for each argument of the callee, or an empty text.
    #[cold]
    pub(crate) fn in_call(self, callee: &Operator, operator: &Operator, names: &[&'static str]) -> Self {
        let Some(inner) = self.kind().operator() else { return self };
        let functional = |operator: &Operator| operator.functional().unwrap_or(operator).name();
        if Operator::find(&inner.to_string()).map_or(inner, functional) != functional(callee) {
            return self;
        }
        self.in_name_of(inner, operator, |argument| {
            let (at, _) = callee.schema().argument(argument)?;
            names.get(at).filter(|name| !name.is_empty()).map(|&name| name.into())
        })
    }

    /// The error of `inner` as that of `operator`, if it arose there; `argument` gives an argument another name.
    fn in_name_of(
        mut self,
        inner: Name<'static>,
        outer: &Operator,
        argument: impl FnOnce(&str) -> Option<Cow<'static, str>>,
    ) -> Self {
        let (kind, callers) = self.parts_mut();
        if kind.operator() != Some(inner) || !callers.is_empty() {
            return self;
        }
        match kind {
            ErrorKind::UnsupportedDType { operator, .. } => *operator = outer.name(),
            ErrorKind::Kernel { operator, source } => {
                *operator = Some(outer.name());
                if let Some(bad) = source.downcast_mut::<BadArgument>()
                    && let Some(name) = argument(&bad.argument)
                {
                    bad.argument = name;
                }
            }
            _ => {}
        }
        self
    }
}

impl From<ErrorKind> for Error {
    #[cold]
    fn from(kind: ErrorKind) -> Self {
        Self(Box::new(Failure { kind, callers: Vec::new() }))
    }
}

macro_rules! from {
    ($($ty:ty => $variant:ident;)*) => {$(
        impl From<$ty> for Error {
            #[cold]
            fn from(error: $ty) -> Self {
                ErrorKind::$variant(error).into()
            }
        }
    )*};
}

from! {
    LandingFull => Key;
    InvalidKey => InvalidKey;
    UnknownKey => UnknownKey;
}

impl From<KeyError> for Error {
    #[cold]
    fn from(error: KeyError) -> Self {
        match error {
            KeyError::Full(full) => full.into(),
            KeyError::Invalid(invalid) => invalid.into(),
            KeyError::NotARuntimeKey(key) => ErrorKind::NotARuntimeKey { key }.into(),
        }
    }
}

macro_rules! from_kernels {
    ($($ty:ty)*) => {$(
        impl From<$ty> for Error {
            #[cold]
            fn from(error: $ty) -> Self {
                Self::kernel(error)
            }
        }
    )*};
}

from_kernels! { BadArgument UnknownDType UnknownDevice }

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

impl From<std::convert::Infallible> for Error {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self.kind() {
            ErrorKind::Kernel { source, .. } => Some(&**source),
            ErrorKind::Key(source) => Some(source),
            ErrorKind::InvalidKey(source) => Some(source),
            ErrorKind::UnknownKey(source) => Some(source),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        render::render(self.kind(), f)?;
        self.callers().iter().try_for_each(|caller| write!(f, "\n  called by `{caller}`"))
    }
}

/// What `unwrap` shows: the message as it is meant to be read.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
