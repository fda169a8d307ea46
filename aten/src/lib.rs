//! PyTorch's operators, under PyTorch's names and schemas.
//!
//! What each computes is in its line of documentation; what its result looks like is in its shape word. Kernels come from backends.

#![allow(
    non_snake_case,
    reason = "an operator is called by its name and that of its overload, and both may have underscores"
)]

mod activation;
mod arithmetic;
mod blocks;
mod borders;
mod bounds;
mod chance;
mod choice;
mod comparison;
mod convolutions;
mod copies;
mod copying;
mod division;
mod factory;
mod gradients;
mod indexing;
mod join;
mod logic;
mod masked;
mod pads;
mod pooling;
mod product;
mod reduction;
mod rounding;
mod scan;
mod scatter;
mod search;
mod select;
mod sequence;
mod shape;
mod shuffles;
mod softmax;
mod unary;
mod upsample;
mod views;

pub use activation::*;
pub use arithmetic::*;
pub use blocks::*;
pub use borders::*;
pub use bounds::*;
pub use chance::*;
pub use choice::*;
pub use comparison::*;
pub use convolutions::*;
pub use copies::*;
pub use copying::*;
pub use division::*;
pub use factory::*;
pub use gradients::*;
pub use indexing::*;
pub use join::*;
pub use logic::*;
pub use masked::*;
pub use pads::*;
pub use pooling::*;
pub use product::*;
pub use reduction::*;
pub use rounding::*;
pub use scan::*;
pub use scatter::*;
pub use search::*;
pub use select::*;
pub use sequence::*;
pub use shuffles::*;
pub use softmax::*;
pub use unary::*;
pub use upsample::*;
pub use views::*;
