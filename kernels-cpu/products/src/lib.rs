//! Kernels of matrix products and distances.

mod distance;
mod product;
