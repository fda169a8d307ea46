//! Vectorized functions: one call computes what a loop over the slices of a batch computes.
//!
//! [`vmap`] runs a function once, at its own level of the transform stack. Each tensor there stands for a tensor below with one more
//! dimension. That dimension is the batch dimension, which the operators in the function do not see.
//!
//! ```
//! # use kernels_cpu as _;
//! use aten::prelude::*;
//! use dispatch_runtime::{Result, Tensor};
//! use dispatch_vmap::vmap;
//!
//! # fn main() -> Result<()> {
//! let (rows, x) = (Tensor::from([[1.0, 2.0], [3.0, 4.0]]), Tensor::from([10.0, 1.0]));
//! let products = vmap(|row| row.dot(&x), &rows)?;
//! assert_eq!(products.to_vec::<f64>()?, [12.0, 34.0]);
//! # Ok(())
//! # }
//! ```
//!
//! Each call is handled by the first of these that applies (`level.rs`, `call.rs`; [`Strategy`] of an operator):
//!
//! 1. a rule defined by [`op_vmap`];
//! 2. the operator's decomposition, if it is an implicit composite;
//! 3. for a view, the geometry of one slice (`views.rs`);
//! 4. the operator's shape word (`shape_words.rs`);
//! 5. a loop over slices (`slice_loop.rs`), which is slow and warns once per operator: [`set_slow_loops`].
#![forbid(unsafe_code)]

extern crate self as dispatch_vmap;

mod batch;
mod call;
mod check_slice;
mod error;
mod level;
mod rule;
mod rules;
mod shape_words;
mod slice_loop;
mod strategy;
mod views;
mod vmap;

pub use batch::{Batch, Mapped};
pub use dispatch_macros::op_vmap;
pub use error::VmapError;
pub use slice_loop::{SlowLoops, set_slow_loops};
pub use strategy::Strategy;
pub use vmap::{Randomness, Vmap, vmap};

/// Items that generated code names. Not public API.
#[doc(hidden)]
pub mod __private {
    pub use crate::rule::{BatchRule, RuleArgument, RuleResult, pack_results, rule_arguments_error, unpack_argument};
    pub use crate::{Batch, Mapped};
    pub use dispatch_macros::__vmap;
}
