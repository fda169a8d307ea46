//! The static data of an operator's definition.

use std::any::TypeId;

use super::Operator;
use super::record::KernelRecord;
use super::table::CodePointer;
use crate::error::Result;
use crate::key::KeySet;
use crate::location::Location;
use crate::name::Name;
use crate::spec::{ShapeWord, Spec};
use crate::value::{Stack, Value};

/// The data of an operator's `#[op_def]`. As a constant, it costs nothing at start-up.
#[doc(hidden)]
#[derive(Debug)]
pub struct Definition {
    pub name: Name<'static>,
    /// The schema without the operator's name.
    pub signature: &'static str,
    pub docs: &'static str,
    pub location: Location,
    pub argument_count: usize,
    /// The number of results if all are tensors; otherwise [`u8::MAX`].
    pub tensor_result_count: u8,
    /// The arguments that carry keys, one bit for each argument.
    pub key_arguments: u64,
    /// Whether the schema has alias annotations on arguments.
    pub aliasing: bool,
    /// Whether results are views of arguments.
    pub returns_views: bool,
    /// The position of the device argument that determines the call's keys. Only operators without tensor arguments have one.
    pub device_argument: Option<usize>,
    /// The shape word, which determines the results' dtype and sizes.
    pub shape: Option<ShapeWord>,
    /// The function that computes the specs of the results of a boxed call.
    pub plan: Option<ResultSpecsFn>,
    /// Whether the sizes of the results depend on the elements of the arguments.
    pub data_dependent: bool,
    /// The functional operator, if this is its in-place or `out=` form.
    pub functional: Option<fn() -> &'static Operator>,
    pub typed: Option<&'static TypedAdapters>,
    /// The operator's function, if it has types.
    pub function: Option<CodePointer>,
    /// The kernels that the definition contains.
    pub kernels: &'static [KernelRecord],
}

/// A function that computes the specs of the results of a boxed call with these arguments.
pub(crate) type ResultSpecsFn = fn(&mut [Value]) -> Result<Vec<Spec>>;

/// The generated adapters of an operator with types.
#[doc(hidden)]
#[derive(Debug)]
pub struct TypedAdapters {
    /// The code of slots without a kernel that can be called directly: it binds the operator, skips a layer, chooses between kernels, or
    /// returns the error of a missing kernel. It has the kernel's type.
    pub slow_path: CodePointer,
    /// Puts the arguments on a stack and runs the slot's boxed kernel. It has the kernel's type.
    pub run_boxed: CodePointer,
    /// Skips the slot's boxed kernel if no tensor has its marks; otherwise does the same as `run_boxed`. It has the kernel's type.
    pub run_boxed_unless_skipped: CodePointer,
    /// Takes the arguments off the stack and calls the given code with these keys. Without code, it calls the kernel for the arguments' own
    /// keys. The code must be a kernel of this operator's type.
    pub run_typed: unsafe fn(&Operator, Option<CodePointer>, KeySet, &mut Stack) -> Result<()>,
    /// The type of the operator's function.
    pub function_type: TypeId,
    /// The type of a closure with the function's signature.
    pub closure_type: TypeId,
    /// Calls a boxed closure, whose address is passed in place of the keys. It has the kernel's type.
    pub call_typed_closure: CodePointer,
}
