//! Calls: typed and boxed ones, redispatch, and the adapters between the two.

mod arithmetic;
#[allow(unsafe_code, reason = "the kind of a slot determines the type of its code")]
mod boxed;
mod boxed_kernel;
mod default_argument;
#[allow(unsafe_code, reason = "code pointers are converted back to functions of the operator's types")]
mod dispatch;
mod error_context;
mod expression;
#[allow(unsafe_code, reason = "code pointers are converted back to functions of the operator's types")]
mod kernel_handle;
mod redispatch;
#[allow(unsafe_code, reason = "adapters know which types an operator's code has")]
mod signature;

pub use arithmetic::ArithmeticOperand;
pub use dispatch::{argument_keys, call_keys, call_keys_up_to, lookup_kernel};
pub use expression::{BorrowedOperand, ComputedOperand, borrow_operand, evaluate, unwrap_operand};
pub use kernel_handle::KernelHandle;
pub use redispatch::RedispatchGuard;
pub use signature::{
    DeviceArgument, HasDeviceKeys, Mut, NewResult, OptMut, OptOwned, OptRef, Owned, Ref, Sig, WrittenArgument,
    convert_argument,
};
