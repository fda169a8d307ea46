//! CUDA kernels that copy elements: copies, concatenation, padding, rolls and repeats.

mod cat;
mod copy;
mod diagonal;
mod pad;
mod rearrange;
