//! CUDA kernels of random number generation.

mod bernoulli;
mod continuous;
mod integers;
mod multinomial;
mod tensor_parameters;
