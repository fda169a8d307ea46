//! PyTorch's operators, under PyTorch's names and schemas.
//!
//! What each computes is in its line of documentation; what its result looks like is in its shape word. Kernels come from backends.
#![forbid(unsafe_code)]
#![allow(
    non_snake_case,
    reason = "an operator is called by its name and that of its overload, and both may have underscores"
)]

mod activation;
mod aliases;
mod arithmetic;
mod attention;
mod bags;
mod blocks;
mod borders;
mod bounds;
mod chains;
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
mod ctc;
mod differences;
mod distance;
mod distinct;
mod division;
mod dtypes;
mod equations;
mod extents;
mod face;
mod factory;
mod fractional;
pub mod functional;
mod gates;
mod gradients;
mod grid;
mod histogram;
mod images;
mod indexing;
mod join;
mod limits;
mod lists;
mod logic;
mod loss;
mod masked;
#[rustfmt::skip]
mod methods;
mod moments;
mod normalization;
mod norms;
mod numbers;
mod order;
mod packs;
mod pads;
mod pinning;
mod pooling;
mod pooling_lines;
mod product;
mod ranges;
mod ranks;
mod recurrent;
mod reduction;
mod rounding;
mod scan;
mod scatter;
mod search;
mod segments;
mod select;
mod sequence;
mod shape;
mod shuffles;
mod softmax;
mod special;
mod splits;
mod statistics;
mod unary;
mod unpooling;
mod upsample;
mod view_gradients;
mod views;
mod windows;

pub use activation::*;
pub use aliases::*;
pub use arithmetic::*;
pub use attention::*;
pub use bags::*;
pub use blocks::*;
pub use borders::*;
pub use bounds::*;
pub use chains::*;
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
pub use ctc::*;
pub use differences::*;
pub use distance::*;
pub use distinct::*;
pub use division::*;
pub use dtypes::*;
pub use equations::*;
pub use extents::*;
pub use face::{
    At, DefaultDevice, Ellipsis, Fetch, Index, Indices, Item, Make, NewAxis, Options, Slice, default_device,
};
pub use factory::*;
pub use fractional::*;
pub use gates::*;
pub use gradients::*;
pub use grid::*;
pub use histogram::*;
pub(crate) use images::images_like;
pub use indexing::*;
pub use join::*;
pub use limits::check_calls;
pub use lists::*;
pub use logic::*;
pub use loss::*;
pub use masked::*;
pub use methods::Methods;
pub use moments::*;
pub use normalization::*;
pub use norms::*;
pub use numbers::*;
pub use order::*;
pub use packs::*;
pub use pads::*;
pub use pinning::*;
pub use pooling::*;
pub use pooling_lines::*;
pub use product::*;
pub use ranges::*;
pub use ranks::*;
pub use recurrent::*;
pub use reduction::*;
pub use rounding::*;
pub use scan::*;
pub use scatter::*;
pub use search::*;
pub use segments::*;
pub use select::*;
pub use sequence::*;
pub use shuffles::*;
pub use softmax::*;
pub use special::*;
pub use splits::*;
pub use statistics::*;
pub use unary::*;
pub use unpooling::*;
pub use upsample::*;
pub use view_gradients::*;
pub use views::*;
pub use windows::*;

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
