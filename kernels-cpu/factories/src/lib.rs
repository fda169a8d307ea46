//! CPU kernels of factories.
#![forbid(unsafe_code)]

mod constant;
mod matrix;
mod sequence;
