//! The CPU backend: kernels of the standard operators, built on a few shared engines.
//!
//! Each family of operators has its own crate. All of them use the crate `engine`.
#![forbid(unsafe_code)]

pub use ::engine::kernel_interface as engine;
pub use ::engine::{gemm, math, thread_pool};

#[cfg(feature = "attention")]
use kernels_cpu_attention as _;
#[cfg(feature = "conv")]
use kernels_cpu_conv as _;
use kernels_cpu_elementwise as _;
use kernels_cpu_factories as _;
#[cfg(feature = "fft")]
use kernels_cpu_fft as _;
use kernels_cpu_indexing as _;
#[cfg(feature = "linalg")]
use kernels_cpu_linalg as _;
#[cfg(feature = "loss")]
use kernels_cpu_loss as _;
#[cfg(feature = "norm")]
use kernels_cpu_norm as _;
#[cfg(feature = "optim")]
use kernels_cpu_optim as _;
#[cfg(feature = "pooling")]
use kernels_cpu_pooling as _;
#[cfg(feature = "products")]
use kernels_cpu_products as _;
#[cfg(feature = "random")]
use kernels_cpu_random as _;
use kernels_cpu_reduction as _;
#[cfg(feature = "resize")]
use kernels_cpu_resize as _;
#[cfg(feature = "sort")]
use kernels_cpu_sort as _;
use kernels_cpu_views as _;
