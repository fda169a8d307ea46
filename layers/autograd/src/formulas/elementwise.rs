//! Of elements, one by one.

mod activation;
pub(super) mod arithmetic;
mod complex;
mod division;
mod glu;
mod min_max;
mod special;
mod unary;
