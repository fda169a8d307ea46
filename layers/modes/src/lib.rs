//! Modes: observers of every operator call, which can also replace it (printing, counting, profiling).
//!
//! ```
//! # use kernels_cpu as _;
//! use aten::prelude::*;
//! use dispatch_modes as modes;
//! use dispatch_modes::{Call, Flops, Mode};
//! use dispatch_runtime::prelude::*;
//!
//! /// Replaces every ReLU by a GELU.
//! struct Smooth;
//!
//! impl Mode for Smooth {
//!     fn on_op(&self, call: &mut Call<'_>) -> Result<()> {
//!         match call.arguments() {
//!             [Value::Tensor(x)] if call.operator().name().base == "relu" => {
//!                 let smooth = aten::gelu(x, "none")?;
//!                 call.set_results([smooth.into()])
//!             }
//!             _ => call.pass_on(),
//!         }
//!     }
//! }
//!
//! # fn main() -> Result<()> {
//! let flops = modes::enter(Flops::new());
//! let x = Tensor::from([[-1.0, 0.0], [1.0, 2.0]]);
//! let y = modes::with_mode(Smooth, || x.mm(&x)?.relu())?;
//! assert_eq!(flops.of_operator("aten::mm"), 16);
//! assert!(y.to_vec::<f64>()? != x.mm(&x)?.relu()?.to_vec::<f64>()?);
//! # Ok(())
//! # }
//! ```
//!
//! # What a mode sees
//!
//! [`enter`] switches a mode on for the thread, until its result is dropped. Modes are above autograd, autocast and all other layers,
//! except for layers that are declared above everything. So a mode sees each call as it was made, with its original arguments, for
//! operators of every crate. Then it sees, as calls *inside* of that one, the operators that the kernels below call: the parts of a
//! composite, the casts of autocast. A printed trace and a profile show these. A mode that counts must not count a product and its parts:
//! it passes a call on [as a whole](Call::pass_on_hiding_inner_calls), and sees nothing inside of it.
//!
//! A backward pass is not an operator. Its calls are seen by the modes that are on when `backward` is called, not by those of the forward
//! pass.
//!
//! # Several modes
//!
//! Modes nest. The innermost mode receives a call first and [passes it on](Call::pass_on) to the next one; the last mode passes it on to
//! the layers below. Operators that a mode calls while it handles a call are seen by the modes below it only, so a mode does not call
//! itself.
//!
//! [`guard::spawn`](dispatch_runtime::guard::spawn) gives the thread's modes to the new thread. A job of a thread pool enters them itself:
//! an [`Arc`](std::sync::Arc) of a mode is a mode.
//!
//! # Transformed functions
//!
//! Transforms of functions and modes nest in one order, too. A mode that was entered outside of `grad(f)` sees the calls into which the
//! transform turns the calls of `f`, and the backward pass. A mode that was entered inside of `f` sees the calls of `f`, with its tensors,
//! until `f` returns. The latter is not given to other threads, as `f` is not.
//!
//! # What it costs
//!
//! Without a mode, nothing: calls enter the layer `PreDispatch` only while the thread has a mode. With a mode, calls are boxed.
#![forbid(unsafe_code)]

mod call;
mod entered_modes;
mod flops;
mod memory;
mod mode;
mod print;
mod profiler;
mod text_table;

pub use call::Call;
pub use dispatch_runtime::span;
pub use entered_modes::{ModeGuard, enter, with_mode};
pub use flops::Flops;
pub use memory::{AllocationCounts, Memory};
pub use mode::{Mode, ModeError};
pub use print::Print;
pub use profiler::{ProfileRow, Profiler};
