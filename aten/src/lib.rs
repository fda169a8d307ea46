//! PyTorch's operators, under PyTorch's names and schemas.
//!
//! What each computes is in its line of documentation; what its result looks like is in its shape word. Kernels come from backends.

mod arithmetic;
mod convolutions;
mod pooling;
mod product;
#[expect(
    non_snake_case,
    reason = "names of PyTorch begin with underscores, and those that are made of them have two in a row"
)]
mod upsample;
mod views;

pub use arithmetic::*;
pub use convolutions::*;
pub use pooling::*;
pub use product::*;
pub use upsample::*;
pub use views::*;
