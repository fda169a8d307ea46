//! CUDA kernels, in a module for each family of operators.

mod attention;
mod conv;
mod elementwise;
mod factories;
mod indexing;
mod linalg;
mod loss;
mod norm;
mod pooling;
mod random;
mod reduction;
mod resize;
mod sort;
mod views;
