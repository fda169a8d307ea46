//! CUDA kernels, in a module for each family of operators.

mod attention;
mod conv;
mod elementwise;
mod factories;
mod indexing;
mod loss;
mod norm;
mod pooling;
mod products;
mod random;
mod reduction;
mod resize;
mod sort;
mod views;
