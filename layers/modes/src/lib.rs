//! Modes: whoever wants to see every call of an operator, or to do something else instead.
//!
//! ```
//! # use kernels_cpu as _;
//! use aten::prelude::*;
//! use dispatch_modes as modes;
//! use dispatch_modes::{Call, Flops, Mode};
//! use dispatch_runtime::prelude::*;
//!
//! /// Every ReLU is a GELU.
//! struct Smooth;
//!
//! impl Mode for Smooth {
//!     fn on_op(&self, call: &mut Call<'_>) -> Result<()> {
//!         match call.arguments() {
//!             [Value::Tensor(x)] if call.operator().name().base == "relu" => {
//!                 let smooth = aten::gelu(x, "none")?;
//!                 call.give([smooth.into()])
//!             }
//!             _ => call.pass_on(),
//!         }
//!     }
//! }
//!
//! # fn main() -> Result<()> {
//! let flops = modes::enter(Flops::new());
//! let x = Tensor::from([[-1.0, 0.0], [1.0, 2.0]]);
//! let y = modes::with(Smooth, || x.mm(&x)?.relu())?;
//! assert_eq!(flops.of("aten::mm"), 16);
//! assert!(y.to_vec::<f64>()? != x.mm(&x)?.relu()?.to_vec::<f64>()?);
//! # Ok(())
//! # }
//! ```
//!
//! # What a mode sees
//!
//! A mode is on for a thread, from [`enter`] to the end of what that gives. It stands above autograd, autocast and all else that has a
//! place in a call, but for layers that somebody declared above everything. So it sees what was called, with the arguments that were
//! given, whichever crate the operator is from. Then it sees, as calls *inside* of that one, what the kernels below call in turn:
//! the parts of a composite, the casts of autocast. That is what a printed trace and a profile show. A mode that counts does not want a
//! product and its parts: it passes a call on [as a whole](Call::pass_on_whole), and nothing inside of it is shown to it.
//!
//! A backward is no operator. What it calls is seen by the modes that are on where `backward` is called, not by those of the forward.
//!
//! # Several modes
//!
//! Modes nest. The innermost has a call first, and [passes it on](Call::pass_on) to the next one, and the last to the layers below. While a
//! mode has a call it is set aside: operators that it calls are seen by the modes below it alone, so it need not fear itself.
//!
//! [`guard::spawn`](dispatch_runtime::guard::spawn) takes the thread's modes along. A job of a pool enters them itself: a mode in an
//! [`Arc`](std::sync::Arc) is a mode.
//!
//! # Transformed functions
//!
//! Transforms of functions and modes are one order, too. A mode that was entered outside of `grad(f)` sees what the transform makes of the
//! calls in `f`, and the way back; one that was entered inside of `f` sees the calls of `f`, with its tensors, until `f` is left. The
//! latter stays on its thread, as `f` does.
//!
//! # What it costs
//!
//! Without any mode on, nothing: calls go to the layer `PreDispatch` only while a thread has one. With one on, calls are boxed.
#![forbid(unsafe_code)]

mod call;
mod flops;
mod memory;
mod mode;
mod print;
mod profiler;
mod scope;
mod text_table;

pub use call::Call;
pub use flops::Flops;
pub use memory::{Made, Memory};
pub use mode::{Mode, ModeError};
pub use print::Print;
pub use profiler::{Profiler, Row};
pub use scope::{Entered, enter, with};
