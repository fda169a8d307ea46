//! The derivatives of PyTorch's operators.

#![allow(non_snake_case, reason = "a derivative is called as its operator")]

mod attention;
mod convolutions;
mod copying;
mod first;
mod indexing;
mod join;
mod pads;
mod parts;
mod pooling;
mod reductions_at;
mod renorm;
mod scatter;
mod upsample;
mod views;
