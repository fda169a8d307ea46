//! The causes of an error.

use dispatch_schema::SyntaxErrors;

use super::explanation::{Explanation, KernelSite};
use crate::key::{Device, InvalidKey, Key, NoFreeKeyIndex, UnknownKey};
use crate::location::Location;
use crate::name::Name;
use crate::rust_operator::RustOperator;

/// The cause of an [`Error`](super::Error).
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No kernel serves the keys of the call.
    NoKernel(Box<Explanation>),
    /// An implicit composite kernel and a kernel of a storage key could both serve `AutogradOther`.
    AmbiguousAutogradOther(Box<Explanation>),
    /// Several kernels were registered for one key of one operator, and none says `override`.
    DuplicateKernel {
        /// The name of the operator.
        operator: Name<'static>,
        /// The key of the kernels.
        key: Key,
        /// The names and locations of the kernels.
        kernels: Vec<(&'static str, Location)>,
    },
    /// Every kernel for the key has a condition, and no condition holds for the call.
    NoConditionHolds {
        /// The name of the operator.
        operator: Name<'static>,
        /// The key of the kernels.
        key: Key,
        /// The conditions that did not hold, and the locations of their kernels.
        conditions: Vec<(&'static str, Location)>,
    },
    /// Several crates define one operator.
    DuplicateOperator {
        /// The name of the operator.
        operator: Name<'static>,
        /// The locations of the definitions.
        locations: Vec<Location>,
    },
    /// Several fallbacks were registered for one key.
    DuplicateFallback {
        /// The key of the fallbacks.
        key: Key,
        /// The names and locations of the fallbacks.
        fallbacks: Vec<(&'static str, Location)>,
    },
    /// No operator has this name.
    UnknownOperator {
        /// The name that no operator has.
        name: String,
        /// The Cargo feature that adds the operator, if that feature is off.
        feature: Option<&'static str>,
        /// The full names of the overloads, if the name needs one.
        overloads: Vec<String>,
        /// The most similar operator name.
        suggestion: Option<String>,
    },
    /// A registrar was created with an invalid namespace.
    InvalidNamespace {
        /// The invalid namespace.
        namespace: String,
    },
    /// Kernels were registered for a name that no crate defines.
    MissingDefinition {
        /// The name that no crate defines.
        operator: Name<'static>,
        /// The locations of the kernels.
        kernels: Vec<Location>,
    },
    /// The operator's definition was removed, and another definition has its name now.
    OperatorRedefined {
        /// The operator's name.
        operator: Name<'static>,
        /// The location of the removed definition.
        location: Location,
        /// The location of the definition that has the name now.
        new_location: Location,
    },
    /// A function or a typed kernel was requested with another signature than the operator's.
    FunctionTypeMismatch {
        /// The name of the operator.
        operator: Name<'static>,
        /// The type of the operator's function.
        expected: String,
        /// The requested type.
        found: &'static str,
    },
    /// A function or a typed kernel was requested of an operator that has only boxed calls.
    NoTypedFunction {
        /// The name of the operator.
        operator: Name<'static>,
        /// The location of the operator's definition.
        location: Location,
    },
    /// A boxed call had too few values on the stack.
    TooFewArguments {
        /// The name of the operator.
        operator: Name<'static>,
        /// The number of arguments that the operator takes.
        expected: usize,
        /// The number of values on the stack.
        found: usize,
    },
    /// A call had more arguments than the operator takes.
    TooManyArguments {
        /// The name of the operator.
        operator: Name<'static>,
        /// The number of arguments that the operator takes.
        expected: usize,
        /// The number of arguments of the call.
        found: usize,
    },
    /// A boxed call had an argument of the wrong kind.
    WrongArgument {
        /// The name of the operator.
        operator: Name<'static>,
        /// The argument's index, counted from 0.
        position: usize,
        /// The argument's name.
        argument: String,
        /// The kind of value that the schema requires.
        expected: &'static str,
        /// The kind of value that the call had.
        found: &'static str,
    },
    /// A boxed kernel left the wrong results on the stack.
    WrongResult {
        /// The name of the operator.
        operator: Name<'static>,
        /// The kind of value that the schema declares.
        expected: &'static str,
        /// The kind of value on the stack. `None` if there were too few values.
        found: Option<&'static str>,
        /// The boxed kernel, if it is known.
        kernel: Option<Box<KernelSite>>,
    },
    /// A boxed kernel left too many values on the stack: arguments that it did not pop, or surplus results.
    SurplusResults {
        /// The name of the operator.
        operator: Name<'static>,
        /// The number of the operator's results.
        expected: usize,
        /// The number of values that the kernel left.
        found: usize,
        /// The boxed kernel, if it is known.
        kernel: Option<Box<KernelSite>>,
    },
    /// In a boxed call, a kernel replaced a written argument by another tensor, and the schema does not return it.
    ReplacedArgument {
        /// The name of the operator.
        operator: Name<'static>,
        /// The name of the written argument.
        argument: String,
    },
    /// An operator that writes to a tensor bound the handle to another tensor, but the method that called it has only a shared handle.
    LostHandle {
        /// The name of the operator.
        operator: Name<'static>,
    },
    /// A kernel was called with a dtype that it does not support.
    UnsupportedDType {
        /// The name of the operator.
        operator: Name<'static>,
        /// The argument whose dtype selects the kernel's element type.
        argument: &'static str,
        /// The dtype of that argument.
        dtype: crate::scalar::DType,
        /// The dtypes that the kernel supports.
        supported: &'static [crate::scalar::DType],
    },
    /// A schema has syntax errors.
    SchemaSyntax {
        /// The text of the schema.
        text: String,
        /// All syntax errors of the schema.
        errors: SyntaxErrors,
    },
    /// A schema has valid syntax but cannot define an operator.
    UnsupportedSchema {
        /// The text of the schema.
        text: String,
        /// The reason why the schema cannot define an operator.
        reason: &'static str,
    },
    /// A name is outside the namespace of its registrar.
    WrongNamespace {
        /// The name that is outside the namespace.
        name: String,
        /// The registrar's namespace.
        namespace: String,
    },
    /// A fallback or a call needs one runtime key, and this key is none. Or a kernel names a layer without the backend that it needs.
    NotARuntimeKey {
        /// The key that is not a runtime key.
        key: Key,
    },
    /// A kernel was removed before it was called through its handle.
    KernelRemoved {
        /// The name of the operator.
        operator: Name<'static>,
    },
    /// The sizes of the results depend on element values, which Meta tensors do not have.
    DataDependent {
        /// The name of the operator.
        operator: Name<'static>,
    },
    /// The operator has no plan, shape word or Meta kernel that describes its results.
    NoShapeInference {
        /// The name of the operator.
        operator: Name<'static>,
    },
    /// No linked backend can allocate memory on the device.
    NoBackend {
        /// The device on which memory was requested.
        device: Device,
        /// The devices of all linked backends.
        linked_devices: Vec<Device>,
    },
    /// The device's index is too large: the backend has fewer devices.
    NoDevice {
        /// The device that does not exist.
        device: Device,
        /// The number of the backend's devices.
        count: usize,
        /// The devices of all linked backends.
        linked_devices: Vec<Device>,
    },
    /// A backend allocated too little memory, or memory of another backend.
    WrongAllocation {
        /// The device on which memory was requested.
        device: Device,
        /// The requested number of bytes.
        size: usize,
        /// The device of the memory that the backend allocated.
        found: Device,
        /// The number of bytes that the backend allocated.
        available: usize,
    },
    /// A layer redispatched a call to itself without end.
    EndlessRedispatch {
        /// The name of the operator.
        operator: Name<'static>,
        /// The key whose kernel was entered last.
        key: Option<Key>,
        /// The number of nested redispatches.
        depth: u32,
    },
    /// A kernel was compiled for another operator of the same name.
    KernelOfOtherDefinition {
        /// The name of the operator.
        operator: Name<'static>,
        /// The location of the operator's definition.
        location: Location,
        /// The names and locations of the kernels.
        kernels: Vec<(&'static str, Location)>,
    },
    /// No linked operator implements this operator of the Rust language.
    NoRustOperatorImpl {
        /// The operator of the Rust language.
        rust_operator: RustOperator,
    },
    /// No backend or layer index is left for a key.
    NoFreeKeyIndex(NoFreeKeyIndex),
    /// [`Key::on`] was called with a key that cannot be combined with a backend, or with a key that is not a backend.
    InvalidKey(InvalidKey),
    /// A text is not the name of a key.
    UnknownKey(UnknownKey),
    /// A kernel returned an error of its own or of a tensor's. For example, an [`AccessError`](crate::AccessError) is the `source` here.
    Kernel {
        /// The operator, if it is known.
        operator: Option<Name<'static>>,
        /// The kernel's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl ErrorKind {
    /// Returns the operator that failed, if there is one.
    ///
    /// ```
    /// use dispatch_runtime::Operator;
    ///
    /// assert_eq!(Operator::find("aten::ad").unwrap_err().kind().operator(), None);
    /// ```
    #[must_use]
    pub fn operator(&self) -> Option<Name<'static>> {
        match self {
            Self::NoKernel(explanation) | Self::AmbiguousAutogradOther(explanation) => Some(explanation.operator),
            Self::DuplicateKernel { operator, .. }
            | Self::NoConditionHolds { operator, .. }
            | Self::DuplicateOperator { operator, .. }
            | Self::MissingDefinition { operator, .. }
            | Self::OperatorRedefined { operator, .. }
            | Self::FunctionTypeMismatch { operator, .. }
            | Self::NoTypedFunction { operator, .. }
            | Self::TooFewArguments { operator, .. }
            | Self::TooManyArguments { operator, .. }
            | Self::WrongArgument { operator, .. }
            | Self::WrongResult { operator, .. }
            | Self::SurplusResults { operator, .. }
            | Self::ReplacedArgument { operator, .. }
            | Self::EndlessRedispatch { operator, .. }
            | Self::KernelOfOtherDefinition { operator, .. }
            | Self::UnsupportedDType { operator, .. }
            | Self::LostHandle { operator }
            | Self::KernelRemoved { operator }
            | Self::DataDependent { operator }
            | Self::NoShapeInference { operator } => Some(*operator),
            Self::Kernel { operator, .. } => *operator,
            _ => None,
        }
    }
}
