//! Products of matrices, and distances.

mod distance;
mod product;
