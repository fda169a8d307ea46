//! PyTorch's operators, under PyTorch's names and schemas.
//!
//! What each computes is in its line of documentation; what its result looks like is in its shape word. Kernels come from backends.

#![allow(
    non_snake_case,
    reason = "an operator is called by its name and that of its overload, and both may have underscores"
)]

mod activation;
mod aliases;
mod arithmetic;
mod attention;
mod blocks;
mod borders;
mod bounds;
mod chance;
mod choice;
mod closeness;
mod comparison;
mod complex_parts;
mod contraction;
mod conv;
mod convolutions;
mod copies;
mod copying;
mod counting;
mod distance;
mod distinct;
mod division;
mod extents;
mod face;
mod factory;
mod gradients;
mod histogram;
mod indexing;
mod join;
mod logic;
mod loss;
#[rustfmt::skip]
mod methods;
mod masked;
mod normalization;
mod order;
mod pads;
mod pooling;
mod pooling_lines;
mod product;
mod ranks;
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
mod special;
mod unary;
mod upsample;
mod view_gradients;
mod views;

pub use activation::*;
pub use aliases::*;
pub use arithmetic::*;
pub use attention::*;
pub use blocks::*;
pub use borders::*;
pub use bounds::*;
pub use chance::*;
pub use choice::*;
pub use closeness::*;
pub use comparison::*;
pub use complex_parts::*;
pub use contraction::*;
pub use conv::*;
pub use convolutions::*;
pub use copies::*;
pub use copying::*;
pub use counting::*;
pub use distance::*;
pub use distinct::*;
pub use division::*;
pub use extents::*;
pub use face::{
    At, DefaultDevice, Ellipsis, Fetch, Index, Indices, Item, Make, NewAxis, Options, Slice, default_device,
};
pub use factory::*;
pub use gradients::*;
pub use histogram::*;
pub use indexing::*;
pub use join::*;
pub use logic::*;
pub use loss::*;
pub use masked::*;
pub use methods::Methods;
pub use normalization::*;
pub use order::*;
pub use pads::*;
pub use pooling::*;
pub use pooling_lines::*;
pub use product::*;
pub use ranks::*;
pub use reduction::*;
pub use rounding::*;
pub use scan::*;
pub use scatter::*;
pub use search::*;
pub use select::*;
pub use sequence::*;
pub use shuffles::*;
pub use softmax::*;
pub use special::*;
pub use unary::*;
pub use upsample::*;
pub use view_gradients::*;
pub use views::*;

/// What makes tensors pleasant: `Tensor::zeros(..)`, `x.to(..)`, `x.i((.., 0))`.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_runtime::prelude::*;
///
/// # fn main() -> Result<()> {
/// let x = Tensor::arange(0..6, DType::F32)?;
/// assert_eq!((&x * 0.5)?.i(-1)?.item::<f32>()?, 2.5);
/// # Ok(())
/// # }
/// ```
pub mod prelude {
    pub use crate::{At, Ellipsis, Fetch, Make, Methods, NewAxis, Slice};
}
