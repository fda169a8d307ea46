//! Operators that make tensors.

mod constant;
mod sequence;
