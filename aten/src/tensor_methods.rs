//! The methods of tensors, curated by hand: one trait for each family.
//!
//! A method is a short form of an operator: a function of [`aten`](crate) has all arguments, in PyTorch's order. Methods take sizes,
//! dimensions, numbers and ranges as they are written in Rust. If an operator has more than one optional argument, `f()` has the
//! defaults and `f_with(options)` takes a struct. Methods whose name ends in an underscore write to the tensor.

mod activation;
mod arithmetic;
#[cfg(feature = "attention")]
mod attention;
mod comparison;
mod conversion;
#[cfg(any(feature = "conv", feature = "resize"))]
mod convolution;
mod exponential;
#[cfg(feature = "fft")]
mod fft;
mod indexing;
#[cfg(feature = "linalg")]
mod linalg;
#[cfg(feature = "loss")]
mod loss;
mod norm;
#[cfg(feature = "pooling")]
mod pooling;
mod product;
#[cfg(feature = "random")]
mod random;
mod reduction;
mod rounding;
mod scan;
mod shape;
mod sorting;
mod trigonometry;
mod view;
#[cfg(any(feature = "conv", feature = "pooling"))]
mod window_options;

pub use activation::*;
pub use arithmetic::*;
#[cfg(feature = "attention")]
pub use attention::*;
pub use comparison::*;
pub use conversion::*;
#[cfg(any(feature = "conv", feature = "resize"))]
pub use convolution::*;
pub use exponential::*;
#[cfg(feature = "fft")]
pub use fft::*;
pub use indexing::*;
#[cfg(feature = "linalg")]
pub use linalg::*;
#[cfg(feature = "loss")]
pub use loss::*;
pub use norm::*;
#[cfg(feature = "pooling")]
pub use pooling::*;
pub use product::*;
#[cfg(feature = "random")]
pub use random::*;
pub use reduction::*;
pub use rounding::*;
pub use scan::*;
pub use shape::*;
pub use sorting::*;
pub use trigonometry::*;
pub use view::*;
#[cfg(any(feature = "conv", feature = "pooling"))]
pub use window_options::*;

/// The traits of all methods, for `aten::prelude`.
pub(crate) mod traits {
    pub use super::ActivationMethods;
    pub use super::ArithmeticMethods;
    #[cfg(feature = "attention")]
    pub use super::AttentionMethods;
    pub use super::ComparisonMethods;
    pub use super::ConversionMethods;
    #[cfg(any(feature = "conv", feature = "resize"))]
    pub use super::ConvolutionMethods;
    pub use super::ExponentialMethods;
    #[cfg(feature = "fft")]
    pub use super::FourierMethods;
    pub use super::IndexingMethods;
    #[cfg(feature = "linalg")]
    pub use super::LinalgMethods;
    #[cfg(feature = "loss")]
    pub use super::LossMethods;
    pub use super::NormMethods;
    #[cfg(feature = "pooling")]
    pub use super::PoolingMethods;
    pub use super::ProductMethods;
    #[cfg(feature = "random")]
    pub use super::RandomMethods;
    pub use super::ReductionMethods;
    pub use super::RoundingMethods;
    pub use super::ScanMethods;
    pub use super::ShapeMethods;
    pub use super::SortingMethods;
    pub use super::TrigonometryMethods;
    pub use super::ViewMethods;
}

/// Calls an operator that writes to its first argument, for a method that has only a shared handle.
macro_rules! in_place {
    ($this:expr, $operator:ident($($argument:expr),* $(,)?)) => {{
        let tensor: &Tensor = $this.borrow();
        let mut handle = tensor.clone();
        crate::$operator(&mut handle $(, $argument)*)?;
        if handle.same(tensor) {
            Ok(())
        } else {
            Err(dispatch_runtime::ErrorKind::LostHandle { operator: crate::$operator::operator().name() }.into())
        }
    }};
}

use in_place;

/// Returns sizes for `rank` dimensions: a single number counts for all.
#[cfg(feature = "pooling")]
fn for_each_dim(sizes: &[i64], rank: usize) -> dispatch_runtime::Dims {
    match sizes {
        [size] => std::iter::repeat_n(*size, rank).collect(),
        _ => dispatch_runtime::Dims::from_slice(sizes),
    }
}
