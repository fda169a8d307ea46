//! The CPU backend: the standard operators as a few engines, and one short item per operator.

pub mod gemm;
pub mod math;
pub mod pool;
