//! PyTorch's operators, under PyTorch's names and schemas.
//!
//! What each computes is in its line of documentation; what its result looks like is in its shape word. Kernels come from backends.

mod arithmetic;
mod copies;
mod factory;
mod indexing;
mod join;
mod scatter;
mod select;
mod sequence;
mod shape;
mod views;

pub use arithmetic::*;
pub use copies::*;
pub use factory::*;
pub use indexing::*;
pub use join::*;
pub use scatter::*;
pub use select::*;
pub use sequence::*;
pub use views::*;
