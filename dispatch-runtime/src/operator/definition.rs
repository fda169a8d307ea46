//! What a definition says of its operator.

use std::any::TypeId;

use super::Operator;
use super::record::KernelRecord;
use super::table::Code;
use crate::error::Result;
use crate::key::KeySet;
use crate::location::Location;
use crate::name::Name;
use crate::spec::{Shape, Spec};
use crate::value::{Stack, Value};

/// What `#[op_def]` says about an operator, in a form that costs nothing at start-up.
#[doc(hidden)]
#[derive(Debug)]
pub struct Definition {
    pub name: Name<'static>,
    /// The schema after the name.
    pub signature: &'static str,
    pub docs: &'static str,
    pub location: Location,
    pub arguments: usize,
    /// How many results it gives, if all are tensors; otherwise [`u8::MAX`].
    pub tensor_results: u8,
    /// Which arguments carry keys: one bit each.
    pub carriers: u64,
    /// Whether the schema has alias annotations on arguments.
    pub aliasing: bool,
    /// It gives views of its arguments.
    pub viewing: bool,
    /// The device that stands for the keys of tensors where there are none.
    pub device: Option<usize>,
    /// What its results look like.
    pub shape: Option<Shape>,
    /// Describes the results of a boxed call.
    pub plan: Option<Outline>,
    /// What its results look like depends on the elements of its arguments.
    pub data_dependent: bool,
    /// The operator that this is another form of.
    pub functional: Option<fn() -> &'static Operator>,
    pub typed: Option<&'static Typed>,
    /// The function of an operator with types.
    pub function: Option<Code>,
    /// Kernels that come with the definition.
    pub kernels: &'static [KernelRecord],
}

/// What the results of a boxed call with these arguments look like.
pub(crate) type Outline = fn(&mut [Value]) -> Result<Vec<Spec>>;

/// The generated functions that know an operator's types.
#[doc(hidden)]
#[derive(Debug)]
pub struct Typed {
    /// Has the kernel's type: whatever a slot cannot say by itself.
    pub slow: Code,
    /// Has the kernel's type: puts the arguments on a stack and runs the slot's boxed kernel.
    pub boxed: Code,
    /// Has the kernel's type: hands the call on where the slot's boxed kernel may be passed over, and else is `boxed`.
    pub marked: Code,
    /// Takes the arguments off the stack and calls a kernel with these keys, or the arguments' own kernel with their own keys. The code
    /// is a kernel of this operator's type.
    pub unbox: unsafe fn(&Operator, Option<Code>, KeySet, &mut Stack) -> Result<()>,
    /// The type of the operator's function.
    pub function: TypeId,
    /// The type of a closure that is like the function.
    pub closure: TypeId,
    /// Has the kernel's type: calls a box of such a closure, whose address is in the place of the keys.
    pub call_closure: Code,
}
