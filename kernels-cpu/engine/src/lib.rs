//! Shared loops of the CPU backend: elementwise, reduction, matrix product and data movement, with the code that they need.
//!
//! This crate defines no operator. The crates of operator families call it with a function of an element, a row or a window. Kernels of
//! other crates use [`kernel_interface`], which has no unsafe functions.
#![allow(clippy::float_cmp, reason = "loops compare exactly if the definitions of operators do")]
#![allow(clippy::needless_bitwise_bool, reason = "a condition without branches becomes vector instructions")]
#![allow(clippy::needless_range_loop, reason = "one index is used for several arrays")]
#![allow(
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    clippy::missing_panics_doc,
    clippy::len_without_is_empty,
    reason = "it is public only for the families of this backend"
)]

// The tests of this crate call operators.
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
pub mod kernel_interface;
pub mod math;
pub mod reduce;
pub mod thread_pool;
