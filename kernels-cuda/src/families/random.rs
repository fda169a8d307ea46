//! Random numbers.

mod bernoulli;
mod continuous;
mod integers;
mod multinomial;
mod tensor_parameters;
