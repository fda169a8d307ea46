//! The CPU backend: the standard operators as a few engines, and one short item per operator.
//!
//! A crate for each family of operators, on the one of the engines.
#![forbid(unsafe_code)]

pub use engine::{gemm, math, pool};

use kernels_cpu_attention as _;
use kernels_cpu_conv as _;
use kernels_cpu_elementwise as _;
use kernels_cpu_factories as _;
use kernels_cpu_indexing as _;
use kernels_cpu_linalg as _;
use kernels_cpu_loss as _;
use kernels_cpu_norm as _;
use kernels_cpu_pooling as _;
use kernels_cpu_random as _;
use kernels_cpu_reduction as _;
use kernels_cpu_resize as _;
use kernels_cpu_sort as _;
use kernels_cpu_views as _;
