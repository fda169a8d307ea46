//! Reverse-mode differentiation, as a layer.
//!
//! [`#[op_grad]`](op_grad) gives an operator its derivative. The kernel that it makes runs at the key Autograd: where a tensor requires
//! gradients, it saves what the derivative needs, hands the call on, and links the results into a graph. Where none does, it hands the call
//! on. A backward goes through the graph from its end and calls the derivatives.
//!
//! ```
//! # use kernels_cpu as _;
//! use aten::prelude::*;
//! use dispatch_autograd::Differentiable;
//! use dispatch_runtime::prelude::*;
//!
//! # fn main() -> Result<()> {
//! let w = Tensor::from([[1.0, 2.0], [3.0, 4.0]]).requires_grad_(true)?;
//! let x = Tensor::from([[1.0], [-1.0]]);
//! w.mm(&x)?.relu()?.sum()?.backward()?;
//! assert_eq!(w.grad().unwrap().to_vec::<f64>()?, [0.0; 4]);
//! # Ok(())
//! # }
//! ```
//!
//! What a tensor remembers is in its extension slot (`history.rs`), what a call remembers in a [`Node`] (`node.rs`, `function.rs`, `saved.rs`). In-place
//! operators and views follow from schemas and geometries alone (`views.rs`, `in_place.rs`, `fallback.rs`), so that operators of any crate
//! are covered. `engine.rs` goes back.
#![forbid(unsafe_code)]

extern crate self as dispatch_autograd;

mod anomaly;
mod checkpoint;
mod clip;
mod complex;
mod custom;
mod derivative;
mod differentiation;
mod engine;
mod error;
mod fallback;
mod formulas;
mod function;
pub mod functional;
mod history;
mod hooks;
mod in_place;
mod leaf;
mod node;
mod outline;
mod record;
mod retain;
mod saved;
mod tensor;
mod unknown;
mod views;
mod writes;

pub use anomaly::{AnomalyGuard, detect_anomaly};
pub use checkpoint::checkpoint;
pub use clip::clip_grad_norm_;
pub use custom::{Backward, BackwardContext, ForwardContext, record};
pub use derivative::Gradient;
pub use differentiation::{Differentiation, grad};
pub use dispatch_macros::{not_differentiable, op_grad};
pub use error::GradientError;
pub use hooks::HookHandle;
pub use node::Node;
pub use outline::Outline;
pub use tensor::Differentiable;

/// Not public API: what generated code names.
#[doc(hidden)]
pub mod __private {
    pub use crate::derivative::{Backwards, Derivative, Source};
    pub use crate::record::{Inputs, Recording, below, computing, fresh, own, tie, tie_all};
    pub use crate::saved::{Unpacked, lost, outline, outlines, value};
    pub use dispatch_macros::{__grad, __not_differentiable};
}
