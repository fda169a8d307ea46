//! Operators that make tensors.

mod constant;
mod matrix;
mod sequence;
