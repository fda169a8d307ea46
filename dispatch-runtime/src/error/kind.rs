//! The causes of failure.

use dispatch_schema::SyntaxErrors;

use super::explanation::{Explanation, Site};
use crate::key::{Device, InvalidKey, Key, LandingFull, UnknownKey};
use crate::location::Location;
use crate::name::Name;
use crate::rust_operator::RustOperator;

/// The cause of an [`Error`](super::Error).
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
    /// A kernel failed for a reason of its own, or of a tensor's: an [`AccessError`](crate::AccessError), for instance, is the `source` here.
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
