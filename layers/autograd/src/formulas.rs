//! The derivatives of PyTorch's operators.

#![allow(non_snake_case, reason = "a derivative is called as its operator")]

mod convolutions;
mod copying;
mod first;
mod indexing;
mod join;
mod parts;
mod pooling;
mod views;
