//! Calls: typed and boxed ones, redispatch, and the adapters between the two.

mod arithmetic;
#[allow(unsafe_code, reason = "a slot says which type its code has")]
mod boxed;
mod boxed_kernel;
mod default_argument;
#[allow(unsafe_code, reason = "code goes back to the operator's own type")]
mod dispatch;
mod error_context;
#[allow(unsafe_code, reason = "code goes back to the operator's own type")]
mod kernel_handle;
mod redispatch;
#[allow(unsafe_code, reason = "adapters know which types an operator's code has")]
mod signature;

pub use arithmetic::Term;
pub use dispatch::{carried, kernel, keys, keys_for};
pub use kernel_handle::KernelHandle;
pub use redispatch::Redispatch;
pub use signature::{Mut, NamesDevice, New, Of, OptMut, OptOwn, OptRef, Own, Place, Ref, Sig, argument};
