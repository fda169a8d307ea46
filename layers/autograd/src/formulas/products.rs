//! Gradient formulas of matrix products and distances.

mod distance;
mod product;
