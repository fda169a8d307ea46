//! Reverse-mode automatic differentiation: the autograd layer.
//!
//! [`#[op_grad]`](op_grad) defines the derivative of an operator and generates a kernel at the key Autograd. If an input requires
//! gradients, the kernel saves what the derivative needs, redispatches, and links the results into a graph. Otherwise it only redispatches.
//! A backward pass walks the graph from its outputs and calls the derivatives.
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
//! `forward/` holds the kernels and fallbacks of the layer, `graph/` the graph that they record. A tensor's history is in its extension
//! slot (`history.rs`), a recorded call in a [`Node`] (`node.rs`, `function.rs`, `saved.rs`). Views (`graph/views.rs`) and in-place
//! operators (`forward/in_place.rs`, `forward/fallback.rs`) are handled from schemas and geometries alone, so operators of any crate are
//! covered. `engine.rs` runs the backward pass. `api/` holds the functions that applications call, and `formulas/` the derivatives of
//! PyTorch's operators.
#![forbid(unsafe_code)]

extern crate self as dispatch_autograd;

mod api;
mod complex;
mod derivative;
mod engine;
mod error;
mod formulas;
mod forward;
mod graph;

pub use api::checkpoint::checkpoint;
pub use api::differentiable::Differentiable;
pub use api::differentiation::{Differentiation, grad};
pub use api::functional;
pub use derivative::Gradient;
pub use dispatch_macros::{not_differentiable, op_grad};
pub use dispatch_runtime::guard::{enable_grad, inference_mode, is_grad_enabled, is_inference_mode, no_grad};
pub use error::GradientError;
pub use graph::anomaly::{AnomalyGuard, detect_anomaly};
pub use graph::custom_function::{Backward, BackwardContext, ForwardContext, call_custom_function};
pub use graph::hooks::HookHandle;
pub use graph::node::Node;
pub use graph::outline::TensorOutline;

/// Items that generated code names. Not public API.
#[doc(hidden)]
pub mod __private {
    pub use crate::derivative::{BackwardStep, Derivative, SavedSource};
    pub use crate::forward::record::{
        CallRecording, DifferentiableArgument, below_autograd_guard, copy_result_if_shared, keys_below_autograd,
        mark_view, mark_views, replace_view_if_shared,
    };
    pub use crate::graph::saved::{UnpackedValue, saved_count_error, unpack_outline, unpack_outlines, unpack_value};
    pub use dispatch_macros::{__grad, __not_differentiable};
}
