//! Engines: loops and launch code that operators of several families share.

#[macro_use]
pub(crate) mod elementwise;

pub(crate) mod cublaslt;
pub(crate) mod data_movement;
pub(crate) mod gather;
pub(crate) mod gemm;
pub(crate) mod images;
pub(crate) mod prefix_sum;
pub(crate) mod random_stream;
pub(crate) mod reduce;
pub(crate) mod scalars;
pub(crate) mod sort_select;
pub(crate) mod transfer;
pub(crate) mod walk;
