//! Gradient formulas of elementwise operators.

mod activation;
pub(super) mod arithmetic;
mod complex;
mod division;
mod glu;
mod min_max;
mod special;
mod unary;
