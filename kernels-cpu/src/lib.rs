//! The CPU backend: the standard operators as a few engines, and one short item per operator.

mod activation;
mod arithmetic;
mod bounds;
mod choice;
mod comparison;
mod compute;
mod convert;
mod copying;
mod division;
mod elementwise;
pub mod gemm;
mod gradients;
mod logic;
pub mod math;
pub mod pool;
mod rounding;
mod unary;
