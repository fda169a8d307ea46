//! PyTorch's operators, under PyTorch's names and schemas.
//!
//! What each computes is in its line of documentation; what its result looks like is in its shape word. Kernels come from backends.

mod arithmetic;
mod convolutions;
mod pooling;
mod product;
mod views;

pub use arithmetic::*;
pub use convolutions::*;
pub use pooling::*;
pub use product::*;
pub use views::*;
