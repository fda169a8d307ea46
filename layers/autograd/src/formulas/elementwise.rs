//! Of elements, one by one.

mod activation;
pub(super) mod arithmetic;
mod choice;
mod complex;
mod division;
mod gates;
mod rounding;
mod special;
mod unary;
