//! CUDA kernels of factory operators: `empty`, `full`, `eye`, `arange` and others.

mod constant;
mod matrix;
mod sequence;
