//! Random numbers.

mod multinomial;
mod tensor_parameters;
