//! Kernels of convolutions, `im2col` and `col2im`.
#![allow(clippy::needless_range_loop, reason = "one index is used for several arrays")]
#![expect(unsafe_code, reason = "planes of one result, each written by one thread")]

mod convolution;
mod geometry;
mod im2col;
mod input_tile;
mod microkernel;
mod weight_gradient;

/// The number of elements that stay in the L2 cache beside other data.
const MAX_ELEMENTS_IN_L2: usize = 1 << 17;

/// The fewest multiply-adds that are worth a thread.
const GRAIN_SIZE: usize = 1 << 18;
