//! Tensors out of nothing.
#![forbid(unsafe_code)]

mod constant;
mod matrix;
mod sequence;
