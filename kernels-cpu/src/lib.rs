//! The CPU backend: the standard operators as a few engines, and one short item per operator.

mod arithmetic;
mod compute;
mod convert;
mod convolution;
mod elementwise;
pub mod gemm;
pub mod math;
mod packed;
pub mod pool;
mod pooling;
mod product;
mod upsample;
