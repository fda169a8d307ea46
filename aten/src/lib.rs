//! PyTorch's operators: their definitions, under PyTorch's names and schemas.
//!
//! The documentation of each operator says what it computes. Its shape word or its plan gives the dtype and the sizes of the result.
//! Backends supply the kernels.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![allow(
    non_snake_case,
    reason = "a function is named after its operator and overload, and both names may have underscores"
)]

#[cfg_attr(not(feature = "default"), allow(dead_code, reason = "the families that use an item may be left out"))]
mod checks;
mod families;
#[rustfmt::skip]
mod family_functions;
pub mod functional;
#[cfg_attr(not(feature = "default"), allow(dead_code, reason = "the families that use an item may be left out"))]
mod geometry;
mod is_random;
mod math_bits;
mod tensor_api;
mod tensor_methods;
mod words;

pub use checks::*;
pub use families::assertions::operators::*;
#[cfg(feature = "attention")]
pub use families::attention::operators::*;
pub use families::elementwise::operators::*;
pub use families::factories::operators::*;
#[cfg(feature = "fft")]
pub use families::fft::operators::*;
pub use families::indexing::operators::*;
#[cfg(feature = "linalg")]
pub use families::linalg::operators::*;
#[cfg(feature = "loss")]
pub use families::loss::operators::*;
#[cfg(feature = "norm")]
pub use families::norm::operators::*;
#[cfg(feature = "optim")]
pub use families::optim::operators::*;
#[cfg(feature = "pooling")]
pub use families::pooling::operators::*;
#[cfg(feature = "products")]
pub use families::products::operators::*;
#[cfg(feature = "quantized")]
pub use families::quantized::operators::*;
#[cfg(feature = "random")]
pub use families::random::operators::*;
pub use families::reduction::operators::*;
#[cfg(feature = "resize")]
pub use families::resize::operators::*;
#[cfg(feature = "sort")]
pub use families::sort::operators::*;
pub use families::views::operators::*;
pub use geometry::*;
pub use is_random::is_random;
pub use tensor_api::{
    Convert, DefaultDeviceGuard, Ellipsis, Factories, Index, Indexing, Indices, IntList, IntoIndex, IntoOptions,
    ItemType, NewAxis, Slice, TensorOptions, set_default_device,
};
pub use tensor_methods::*;
pub use words::*;

/// Exports the operators of an optional family if its cargo feature is enabled. The list names every operator, because the compiler's error
/// for a missing operator names the feature only if the disabled `use` spells the operator's name.
macro_rules! export_family {
    ($feature:tt $family:ident: $($function:ident)*) => {
        #[cfg(feature = $feature)]
        pub use crate::families::$family::operators::{$($function),*};
        #[cfg(not(feature = $feature))]
        dispatch_runtime::disabled_feature!($feature, "aten", stringify!($($function)*));
    };
}

family_functions::for_each_family!(export_family);

/// The traits that add methods to tensors: `Tensor::zeros(..)`, `x.to(..)`, `x.i((.., 0))`.
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
    pub use crate::tensor_methods::traits::*;
    pub use crate::{Convert, Ellipsis, Factories, Indexing, NewAxis, Slice};
}
