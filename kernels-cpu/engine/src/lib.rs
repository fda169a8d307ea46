//! The engines of the CPU backend: loops that several families of operators share, and what these loops stand on.
//!
//! It has no operator. Families bring what becomes of an element, a line or a window.
#![allow(clippy::float_cmp, reason = "loops compare exactly where definitions of operators do")]
#![allow(clippy::needless_bitwise_bool, reason = "a condition without branches becomes vector instructions")]
#![allow(clippy::needless_range_loop, reason = "several arrays have one index")]
#![allow(
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    clippy::missing_panics_doc,
    clippy::len_without_is_empty,
    reason = "it is public for the families of this backend alone"
)]

// Tests of engines call operators.
#[cfg(test)]
use kernels_cpu as _;

pub mod allocation;
pub mod compute;
pub mod contiguous;
pub mod convert;
pub mod data_movement;
pub mod elementwise;
pub mod fill;
pub mod gemm;
pub mod inlined;
pub mod math;
pub mod reduce;
pub mod thread_pool;
