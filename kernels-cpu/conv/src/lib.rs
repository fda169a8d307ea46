//! Convolutions, `im2col` and `col2im`.
#![allow(clippy::needless_range_loop, reason = "several arrays have one index")]
#![expect(unsafe_code, reason = "planes of one result, each written by one thread")]

mod convolution;
mod geometry;
mod im2col;
mod input_tile;
mod microkernel;
mod weight_gradient;

/// Elements that stay in the second cache beside others.
const NEAR: usize = 1 << 17;

/// Multiply-adds that are worth a thread.
const GRAIN: usize = 1 << 18;
