//! PyTorch's operators, under PyTorch's names and schemas.
//!
//! What each computes is in its line of documentation; what its result looks like is in its shape word. Kernels come from backends.

mod arithmetic;
mod order;
mod reduction;
mod scan;
mod softmax;
mod views;

pub use arithmetic::*;
pub use order::*;
pub use reduction::*;
pub use scan::*;
pub use softmax::*;
pub use views::*;
