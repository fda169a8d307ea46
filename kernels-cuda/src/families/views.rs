//! CUDA kernels that copy elements: copies, concatenation, padding, rolls and repeats.

mod copy;
mod diagonal;
mod join;
mod pad;
mod rearrange;
