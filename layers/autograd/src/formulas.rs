//! The derivatives of PyTorch's operators.

mod first;
