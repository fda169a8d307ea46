//! CUDA kernels of matrix products and pairwise distances.

mod distance;
mod product;
