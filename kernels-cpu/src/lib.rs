//! The CPU backend: the standard operators as a few engines, and one short item per operator.

mod arithmetic;
mod compute;
mod convert;
mod elementwise;
pub mod gemm;
pub mod math;
pub mod pool;
mod reduce;
mod reduction;
mod scan;
mod softmax;
mod sort;
