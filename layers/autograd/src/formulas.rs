//! The derivatives of PyTorch's operators.

mod copying;
mod first;
mod parts;
mod views;
