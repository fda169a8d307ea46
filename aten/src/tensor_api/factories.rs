//! Factories: functions of `Tensor` that make new tensors.

use std::ops::Range;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, IntoInt, IntoSizes, Problem};

use super::IntoOptions;
use crate::GridIndexing;

/// Functions that make new tensors: `Tensor::zeros((2, 3), DType::F64)`.
///
/// The last argument gives the dtype and the device: a [`DType`], a [`Device`], a pair of both, another tensor that has them, or `()` for
/// the defaults.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_runtime::prelude::*;
///
/// # fn main() -> Result<()> {
/// assert_eq!(Tensor::zeros((2, 3), ())?.dtype(), DType::F32);
/// assert_eq!(Tensor::ones(2, DType::I64)?.to_vec::<i64>()?, [1, 1]);
/// assert_eq!(Tensor::full(2, 0.5, DType::F64)?.to_vec::<f64>()?, [0.5, 0.5]);
/// assert_eq!(Tensor::arange(0..3, ())?.to_vec::<i64>()?, [0, 1, 2]);
/// assert_eq!(Tensor::arange_step(1.0..0.0, -0.5, ())?.to_vec::<f32>()?, [1.0, 0.5]);
/// assert_eq!(Tensor::linspace(0.0, 1.0, 3, ())?.to_vec::<f32>()?, [0.0, 0.5, 1.0]);
/// assert_eq!(Tensor::eye(2, DType::U8)?.to_vec::<u8>()?, [1, 0, 0, 1]);
/// dispatch_runtime::manual_seed(0);
/// assert!(Tensor::rand(1, ())?.item::<f32>()? < 1.0);
/// assert_eq!(Tensor::randn((2, 2), DType::F64)?.dtype(), DType::F64);
/// assert_eq!(Tensor::randint(7..8, 2, ())?.to_vec::<i64>()?, [7, 7]);
/// assert_eq!(Tensor::randperm(3, ())?.sum()?.item::<i64>()?, 3);
/// assert_eq!(Tensor::empty((4, 4), Device::META)?.sizes(), [4, 4]);
/// let (a, b) = (Tensor::from([1, 2]), Tensor::from([3, 4]));
/// assert_eq!(Tensor::cat(&[a.clone(), b.clone()], 0)?.to_vec::<i32>()?, [1, 2, 3, 4]);
/// assert_eq!(Tensor::stack(&[a.clone(), b.clone()], 0)?.sizes(), [2, 2]);
/// assert_eq!(Tensor::meshgrid(&[a.clone(), b.clone()], "ij".parse()?)?[0].to_vec::<i32>()?, [1, 1, 2, 2]);
/// assert_eq!(Tensor::einsum("i,i->", &[a, b])?.item::<i32>()?, 11);
/// # Ok(())
/// # }
/// ```
pub trait Factories: Sized {
    /// Makes a tensor with arbitrary elements: the previous content of the memory.
    fn empty(size: impl IntoSizes, options: impl IntoOptions) -> Result<Self>;

    /// Makes a tensor of zeros.
    fn zeros(size: impl IntoSizes, options: impl IntoOptions) -> Result<Self>;

    /// Makes a tensor of ones.
    fn ones(size: impl IntoSizes, options: impl IntoOptions) -> Result<Self>;

    /// Makes a tensor with `value` in each element. The default dtype follows the kind of `value`: `bool`, `i64`, `f32` or `c64`.
    fn full(size: impl IntoSizes, value: impl Into<Scalar>, options: impl IntoOptions) -> Result<Self>;

    /// Makes a vector of the values of a range, with step 1.
    fn arange<N: Into<Scalar>>(range: Range<N>, options: impl IntoOptions) -> Result<Self>;

    /// Makes a vector of the values of a range, with step `step`. A negative step counts downwards. PyTorch:
    /// `torch.arange(start, end, step)`.
    fn arange_step<N: Into<Scalar>>(range: Range<N>, step: N, options: impl IntoOptions) -> Result<Self>;

    /// Makes a vector of `steps` equally spaced values from `start` to `end`, both included.
    fn linspace<N: Into<Scalar>>(start: N, end: N, steps: impl IntoInt, options: impl IntoOptions) -> Result<Self>;

    /// Makes an identity matrix of `n` rows and columns.
    fn eye(n: impl IntoInt, options: impl IntoOptions) -> Result<Self>;

    /// Makes a tensor of random values, uniform in `[0, 1)`.
    #[cfg(feature = "random")]
    fn rand(size: impl IntoSizes, options: impl IntoOptions) -> Result<Self>;

    /// Makes a tensor of random values of the standard normal distribution.
    #[cfg(feature = "random")]
    fn randn(size: impl IntoSizes, options: impl IntoOptions) -> Result<Self>;

    /// Makes a tensor of random integers, uniform in `range`. The default dtype is `int64`.
    #[cfg(feature = "random")]
    fn randint(range: Range<i64>, size: impl IntoSizes, options: impl IntoOptions) -> Result<Self>;

    /// Makes a vector of the integers from 0 to `n - 1` in random order. The default dtype is `int64`.
    #[cfg(feature = "random")]
    fn randperm(n: impl IntoInt, options: impl IntoOptions) -> Result<Self>;

    /// Joins tensors along an existing dimension.
    fn cat(tensors: &[Tensor], dim: impl IntoInt) -> Result<Self>;

    /// Joins tensors along a new dimension.
    fn stack(tensors: &[Tensor], dim: impl IntoInt) -> Result<Self>;

    /// Returns the grids of coordinates that vectors span, one for each vector.
    fn meshgrid(vectors: &[Tensor], indexing: GridIndexing) -> Result<Vec<Self>>;

    /// Sums products of elements as an equation such as `"ij,jk->ik"` says.
    #[cfg(feature = "products")]
    fn einsum(equation: &str, tensors: &[Tensor]) -> Result<Self>;
}

impl Factories for Tensor {
    fn cat(tensors: &[Tensor], dim: impl IntoInt) -> Result<Self> {
        crate::cat(not_empty(tensors)?, dim.into_int())
    }

    fn stack(tensors: &[Tensor], dim: impl IntoInt) -> Result<Self> {
        crate::stack(not_empty(tensors)?, dim.into_int())
    }

    fn meshgrid(vectors: &[Tensor], indexing: GridIndexing) -> Result<Vec<Self>> {
        crate::meshgrid_indexing(not_empty(vectors)?, indexing.name())
    }

    #[cfg(feature = "products")]
    fn einsum(equation: &str, tensors: &[Tensor]) -> Result<Self> {
        crate::einsum(equation, not_empty(tensors)?, None)
    }

    fn empty(size: impl IntoSizes, options: impl IntoOptions) -> Result<Self> {
        let options = options.into_options();
        crate::empty_memory_format(
            &size.into_sizes(),
            options.dtype,
            None,
            Some(options.device_or_default()),
            None,
            None,
        )
    }

    fn zeros(size: impl IntoSizes, options: impl IntoOptions) -> Result<Self> {
        let options = options.into_options();
        crate::zeros(&size.into_sizes(), options.dtype, None, Some(options.device_or_default()), None)
    }

    fn ones(size: impl IntoSizes, options: impl IntoOptions) -> Result<Self> {
        let options = options.into_options();
        crate::ones(&size.into_sizes(), options.dtype, None, Some(options.device_or_default()), None)
    }

    fn full(size: impl IntoSizes, value: impl Into<Scalar>, options: impl IntoOptions) -> Result<Self> {
        let options = options.into_options();
        crate::full(&size.into_sizes(), value.into(), options.dtype, None, Some(options.device_or_default()), None)
    }

    fn arange<N: Into<Scalar>>(range: Range<N>, options: impl IntoOptions) -> Result<Self> {
        let options = options.into_options();
        crate::arange_start(
            range.start.into(),
            range.end.into(),
            options.dtype,
            None,
            Some(options.device_or_default()),
            None,
        )
    }

    fn arange_step<N: Into<Scalar>>(range: Range<N>, step: N, options: impl IntoOptions) -> Result<Self> {
        let (options, start, end) = (options.into_options(), range.start.into(), range.end.into());
        crate::arange_start_step(start, end, step.into(), options.dtype, None, Some(options.device_or_default()), None)
    }

    fn linspace<N: Into<Scalar>>(start: N, end: N, steps: impl IntoInt, options: impl IntoOptions) -> Result<Self> {
        let options = options.into_options();
        crate::linspace(
            start.into(),
            end.into(),
            steps.into_int(),
            options.dtype,
            None,
            Some(options.device_or_default()),
            None,
        )
    }

    fn eye(n: impl IntoInt, options: impl IntoOptions) -> Result<Self> {
        let options = options.into_options();
        crate::eye(n.into_int(), options.dtype, None, Some(options.device_or_default()), None)
    }

    #[cfg(feature = "random")]
    fn rand(size: impl IntoSizes, options: impl IntoOptions) -> Result<Self> {
        let options = options.into_options();
        crate::rand(&size.into_sizes(), options.dtype, None, Some(options.device_or_default()), None)
    }

    #[cfg(feature = "random")]
    fn randn(size: impl IntoSizes, options: impl IntoOptions) -> Result<Self> {
        let options = options.into_options();
        crate::randn(&size.into_sizes(), options.dtype, None, Some(options.device_or_default()), None)
    }

    #[cfg(feature = "random")]
    fn randint(range: Range<i64>, size: impl IntoSizes, options: impl IntoOptions) -> Result<Self> {
        let options = options.into_options();
        let dtype = options.dtype.or(Some(DType::I64));
        crate::randint_low(
            range.start,
            range.end,
            &size.into_sizes(),
            dtype,
            None,
            Some(options.device_or_default()),
            None,
        )
    }

    #[cfg(feature = "random")]
    fn randperm(n: impl IntoInt, options: impl IntoOptions) -> Result<Self> {
        let options = options.into_options();
        crate::randperm(n.into_int(), options.dtype.or(Some(DType::I64)), None, Some(options.device_or_default()), None)
    }
}

/// Returns the list if it has tensors. A call without tensors has no dispatch keys, so no kernel would check it.
fn not_empty(tensors: &[Tensor]) -> Result<&[Tensor], BadArgument> {
    if tensors.is_empty() { Err(BadArgument::new("tensors", Problem::NoTensors)) } else { Ok(tensors) }
}
