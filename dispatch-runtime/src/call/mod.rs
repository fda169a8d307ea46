//! Calls: typed and boxed ones, redispatch, and the adapters between the two.

pub(crate) mod arithmetic;
pub(crate) mod boxed_kernel;
mod default_argument;
#[allow(unsafe_code, reason = "code goes back to the operator's own type")]
mod kernel_handle;
mod redispatch;
#[allow(unsafe_code, reason = "adapters know which types an operator's code has")]
pub(crate) mod signature;

pub use arithmetic::{Claim, RustOperator, Term};
pub(crate) use arithmetic::{assign, granted};
pub use boxed_kernel::BoxedFn;
pub(crate) use boxed_kernel::{BoxedClosure, BoxedKernel, CLOSURE};
pub use kernel_handle::KernelHandle;
pub use redispatch::Redispatch;
pub(crate) use signature::boxed_closure;
pub use signature::{Mut, New, Of, OptMut, OptOwn, OptRef, Own, Place, Ref, Sig, Signature, argument};
