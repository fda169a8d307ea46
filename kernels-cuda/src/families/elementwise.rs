//! Operators that compute each element by itself.

mod activation;
mod activation_backward;
mod arithmetic;
mod comparison;
mod conditional;
pub(crate) mod division;
mod logic;
mod min_max;
mod rounding;
mod special;
mod unary;
