//! The CPU backend: the standard operators as a few engines, and one short item per operator.

#![allow(clippy::float_cmp, reason = "kernels compare exactly where their definitions do")]
#![allow(clippy::needless_bitwise_bool, reason = "a condition without branches becomes vector instructions")]
#![allow(clippy::needless_range_loop, reason = "several arrays have one index")]
#![allow(clippy::needless_for_each, reason = "a short step at the end of a chain")]

mod activation;
mod arithmetic;
mod attention;
mod bags;
mod bounds;
mod chance;
mod choice;
mod comparison;
mod complex;
mod compute;
mod convert;
mod convolution;
mod copies;
mod copying;
mod counting;
mod ctc;
mod distance;
mod distinct;
mod division;
mod elementwise;
mod factory;
mod gates;
mod gather;
pub mod gemm;
mod gradients;
mod grid;
mod index;
mod inlined;
mod join;
mod logic;
mod loss;
mod mask;
pub mod math;
mod moves;
mod normalization;
mod numbers;
mod order;
mod packed;
mod pads;
pub mod pool;
mod pooling;
mod product;
mod reduce;
mod reduction;
mod rounding;
mod scan;
mod scatter;
mod search;
mod segments;
mod sequence;
mod softmax;
mod sort;
mod special;
mod unary;
mod upsample;
