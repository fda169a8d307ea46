//! PyTorch's operators, under PyTorch's names and schemas.
//!
//! What each computes is in its line of documentation; what its result looks like is in its shape word. Kernels come from backends.

#![allow(
    non_snake_case,
    reason = "an operator is called by its name and that of its overload, and both may have underscores"
)]

mod activation;
mod arithmetic;
mod bounds;
mod choice;
mod closeness;
mod comparison;
mod convolutions;
mod copies;
mod copying;
mod counting;
mod distance;
mod distinct;
mod division;
mod factory;
mod gradients;
mod indexing;
mod join;
mod logic;
mod loss;
mod normalization;
mod order;
mod pooling;
mod product;
mod reduction;
mod rounding;
mod scan;
mod scatter;
mod select;
mod sequence;
mod shape;
mod softmax;
mod unary;
mod upsample;
mod views;

pub use activation::*;
pub use arithmetic::*;
pub use bounds::*;
pub use choice::*;
pub use closeness::*;
pub use comparison::*;
pub use convolutions::*;
pub use copies::*;
pub use copying::*;
pub use counting::*;
pub use distance::*;
pub use distinct::*;
pub use division::*;
pub use factory::*;
pub use gradients::*;
pub use indexing::*;
pub use join::*;
pub use logic::*;
pub use loss::*;
pub use normalization::*;
pub use order::*;
pub use pooling::*;
pub use product::*;
pub use reduction::*;
pub use rounding::*;
pub use scan::*;
pub use scatter::*;
pub use select::*;
pub use sequence::*;
pub use softmax::*;
pub use unary::*;
pub use upsample::*;
pub use views::*;
