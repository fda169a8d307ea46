//! The CPU backend: the standard operators as a few engines, and one short item per operator.

mod arithmetic;
mod compute;
mod convert;
mod copies;
mod elementwise;
mod factory;
pub mod gemm;
mod index;
mod join;
pub mod math;
mod moves;
pub mod pool;
mod scatter;
mod sequence;
