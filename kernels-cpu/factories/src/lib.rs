//! Tensors out of nothing.
#![forbid(unsafe_code)]

mod factory;
mod sequence;
