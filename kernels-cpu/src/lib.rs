//! The CPU backend: the standard operators as a few engines, and one short item per operator.

mod activation;
mod arithmetic;
mod bounds;
mod choice;
mod comparison;
mod compute;
mod convert;
mod convolution;
mod copies;
mod copying;
mod division;
mod elementwise;
mod factory;
pub mod gemm;
mod gradients;
mod logic;
pub mod math;
mod moves;
mod packed;
mod product;
mod rounding;
mod sequence;
mod unary;
pub mod pool;
