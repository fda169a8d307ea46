//! CUDA kernels of elementwise operators.

mod activation;
mod activation_backward;
mod arithmetic;
mod comparison;
mod conditional;
mod division;
mod glu;
mod logic;
mod min_max;
mod power;
mod special;
mod unary;
