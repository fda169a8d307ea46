//! Kernels of elementwise operators, one line each.
#![forbid(unsafe_code)]
#![allow(clippy::float_cmp, reason = "kernels compare exactly if their definitions do")]
#![allow(clippy::needless_bitwise_bool, reason = "a condition without branches becomes vector instructions")]

mod activation;
mod activation_backward;
mod arithmetic;
mod comparison;
mod complex;
mod conditional;
mod division;
mod glu;
mod logic;
mod min_max;
mod power;
pub mod special;
mod unary;
