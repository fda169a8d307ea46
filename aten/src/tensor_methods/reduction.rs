//! Reductions: of all elements (`sum()`), of some dimensions (`sum_dims(0)`), and of dimensions that stay with size 1 (`sum_keepdim(0)`).

use std::borrow::Borrow;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{IntoAxes, IntoInt, IntoSizes};

use crate::IntList;
use dispatch_runtime::reduced_dims;

/// Reductions. `sum()` reduces all elements, `sum_dims(0)` one or several dimensions, and `sum_keepdim(0)` keeps them with size 1.
pub trait ReductionMethods: Borrow<Tensor> {
    /// Returns the sum of all elements. Over some dimensions: `sum_dims`. Candle: `sum_all`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    /// assert_eq!(x.sum()?.item::<f64>()?, 10.0);
    /// # Ok::<(), Error>(())
    /// ```
    fn sum(&self) -> Result<Tensor> {
        crate::sum(self.borrow(), None)
    }

    /// Returns the sum over the dimensions. PyTorch: `sum(dim)`. Candle: `sum`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    /// assert_eq!(x.sum_dims(0)?.to_vec::<f64>()?, [4.0, 6.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn sum_dims(&self, dims: impl IntoAxes) -> Result<Tensor> {
        crate::sum_dim_intlist(self.borrow(), Some(&dims.into_axes()), false, None)
    }

    /// Returns the sum over the dimensions, which stay with size 1. PyTorch: `sum(dim, keepdim=True)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    /// assert_eq!(x.sum_keepdim(0)?.sizes(), [1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn sum_keepdim(&self, dims: impl IntoAxes) -> Result<Tensor> {
        crate::sum_dim_intlist(self.borrow(), Some(&dims.into_axes()), true, None)
    }

    /// Returns the mean of all elements. Over some dimensions: `mean_dims`. Candle: `mean_all`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    /// assert_eq!(x.mean()?.item::<f64>()?, 2.5);
    /// # Ok::<(), Error>(())
    /// ```
    fn mean(&self) -> Result<Tensor> {
        crate::mean(self.borrow(), None)
    }

    /// Returns the mean over the dimensions. PyTorch: `mean(dim)`. Candle: `mean`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    /// assert_eq!(x.mean_dims(0)?.to_vec::<f64>()?, [2.0, 3.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn mean_dims(&self, dims: impl IntoAxes) -> Result<Tensor> {
        crate::mean_dim(self.borrow(), Some(&dims.into_axes()), false, None)
    }

    /// Returns the mean over the dimensions, which stay with size 1. PyTorch: `mean(dim, keepdim=True)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    /// assert_eq!(x.mean_keepdim(0)?.sizes(), [1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn mean_keepdim(&self, dims: impl IntoAxes) -> Result<Tensor> {
        crate::mean_dim(self.borrow(), Some(&dims.into_axes()), true, None)
    }

    /// Returns the product of all elements. Over some dimensions: `prod_dims`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    /// assert_eq!(x.prod()?.item::<f64>()?, 24.0);
    /// # Ok::<(), Error>(())
    /// ```
    fn prod(&self) -> Result<Tensor> {
        crate::prod(self.borrow(), None)
    }

    /// Returns the product over the dimensions. PyTorch: `prod(dim)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    /// assert_eq!(x.prod_dims(0)?.to_vec::<f64>()?, [3.0, 8.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn prod_dims(&self, dims: impl IntoAxes) -> Result<Tensor> {
        reduce_prod(self.borrow(), &dims.into_axes(), false)
    }

    /// Returns the product over the dimensions, which stay with size 1. PyTorch: `prod(dim, keepdim=True)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    /// assert_eq!(x.prod_keepdim(0)?.sizes(), [1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn prod_keepdim(&self, dims: impl IntoAxes) -> Result<Tensor> {
        reduce_prod(self.borrow(), &dims.into_axes(), true)
    }

    /// Returns the largest element of all elements. Over some dimensions: `amax_dims`. Candle: `max_all`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[1.0, 5.0], [3.0, 4.0]]);
    /// assert_eq!(x.amax()?.item::<f64>()?, 5.0);
    /// # Ok::<(), Error>(())
    /// ```
    fn amax(&self) -> Result<Tensor> {
        crate::amax(self.borrow(), &[], false)
    }

    /// Returns the largest element over the dimensions. PyTorch: `amax(dim)`. Candle: `max`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[1.0, 5.0], [3.0, 4.0]]);
    /// assert_eq!(x.amax_dims(0)?.to_vec::<f64>()?, [3.0, 5.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn amax_dims(&self, dims: impl IntoAxes) -> Result<Tensor> {
        crate::amax(self.borrow(), &dims.into_axes(), false)
    }

    /// Returns the largest element over the dimensions, which stay with size 1. PyTorch: `amax(dim, keepdim=True)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[1.0, 5.0], [3.0, 4.0]]);
    /// assert_eq!(x.amax_keepdim(0)?.sizes(), [1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn amax_keepdim(&self, dims: impl IntoAxes) -> Result<Tensor> {
        crate::amax(self.borrow(), &dims.into_axes(), true)
    }

    /// Returns the smallest element of all elements. Over some dimensions: `amin_dims`. Candle: `min_all`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[1.0, 5.0], [3.0, 4.0]]);
    /// assert_eq!(x.amin()?.item::<f64>()?, 1.0);
    /// # Ok::<(), Error>(())
    /// ```
    fn amin(&self) -> Result<Tensor> {
        crate::amin(self.borrow(), &[], false)
    }

    /// Returns the smallest element over the dimensions. PyTorch: `amin(dim)`. Candle: `min`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[1.0, 5.0], [3.0, 4.0]]);
    /// assert_eq!(x.amin_dims(0)?.to_vec::<f64>()?, [1.0, 4.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn amin_dims(&self, dims: impl IntoAxes) -> Result<Tensor> {
        crate::amin(self.borrow(), &dims.into_axes(), false)
    }

    /// Returns the smallest element over the dimensions, which stay with size 1. PyTorch: `amin(dim, keepdim=True)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[1.0, 5.0], [3.0, 4.0]]);
    /// assert_eq!(x.amin_keepdim(0)?.sizes(), [1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn amin_keepdim(&self, dims: impl IntoAxes) -> Result<Tensor> {
        crate::amin(self.borrow(), &dims.into_axes(), true)
    }

    /// Returns whether any element is not 0 of all elements. Over some dimensions: `any_dims`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[true, false], [false, false]]);
    /// assert!(x.any()?.item::<bool>()?);
    /// # Ok::<(), Error>(())
    /// ```
    fn any(&self) -> Result<Tensor> {
        crate::any(self.borrow())
    }

    /// Returns whether any element is not 0 over the dimensions. PyTorch: `any(dim)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{Bool, prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[true, false], [false, false]]);
    /// assert_eq!(x.any_dims(0)?.to_vec::<Bool>()?, [true, false]);
    /// # Ok::<(), Error>(())
    /// ```
    fn any_dims(&self, dims: impl IntoAxes) -> Result<Tensor> {
        crate::any_dims(self.borrow(), Some(&dims.into_axes()), false)
    }

    /// Returns whether any element is not 0 over the dimensions, which stay with size 1. PyTorch: `any(dim, keepdim=True)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[true, false], [false, false]]);
    /// assert_eq!(x.any_keepdim(0)?.sizes(), [1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn any_keepdim(&self, dims: impl IntoAxes) -> Result<Tensor> {
        crate::any_dims(self.borrow(), Some(&dims.into_axes()), true)
    }

    /// Returns whether all elements are not 0 of all elements. Over some dimensions: `all_dims`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[true, false], [true, true]]);
    /// assert!(!x.all()?.item::<bool>()?);
    /// # Ok::<(), Error>(())
    /// ```
    fn all(&self) -> Result<Tensor> {
        crate::all(self.borrow())
    }

    /// Returns whether all elements are not 0 over the dimensions. PyTorch: `all(dim)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{Bool, prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[true, false], [true, true]]);
    /// assert_eq!(x.all_dims(0)?.to_vec::<Bool>()?, [true, false]);
    /// # Ok::<(), Error>(())
    /// ```
    fn all_dims(&self, dims: impl IntoAxes) -> Result<Tensor> {
        crate::all_dims(self.borrow(), Some(&dims.into_axes()), false)
    }

    /// Returns whether all elements are not 0 over the dimensions, which stay with size 1. PyTorch: `all(dim, keepdim=True)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[true, false], [true, true]]);
    /// assert_eq!(x.all_keepdim(0)?.sizes(), [1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn all_keepdim(&self, dims: impl IntoAxes) -> Result<Tensor> {
        crate::all_dims(self.borrow(), Some(&dims.into_axes()), true)
    }

    /// Returns the logarithm of the sum of exponentials, without overflow of all elements. Over some dimensions: `logsumexp_dims`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[0.0, 1000.0], [0.0, 1000.0]]);
    /// assert!((x.logsumexp()?.item::<f64>()? - 1000.693147181).abs() < 1e-6);
    /// # Ok::<(), Error>(())
    /// ```
    fn logsumexp(&self) -> Result<Tensor> {
        crate::logsumexp(self.borrow(), &[], false)
    }

    /// Returns the logarithm of the sum of exponentials, without overflow over the dimensions. PyTorch: `logsumexp(dim)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[0.0, 1000.0], [0.0, 1000.0]]);
    /// assert!(x.logsumexp_dims(0)?.allclose(&Tensor::from([0.693147181, 1000.693147181]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn logsumexp_dims(&self, dims: impl IntoAxes) -> Result<Tensor> {
        crate::logsumexp(self.borrow(), &dims.into_axes(), false)
    }

    /// Returns the logarithm of the sum of exponentials, without overflow over the dimensions, which stay with size 1. PyTorch: `logsumexp(dim, keepdim=True)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[0.0, 1000.0], [0.0, 1000.0]]);
    /// assert_eq!(x.logsumexp_keepdim(0)?.sizes(), [1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn logsumexp_keepdim(&self, dims: impl IntoAxes) -> Result<Tensor> {
        crate::logsumexp(self.borrow(), &dims.into_axes(), true)
    }

    /// Returns the variance, with the divisor `n - 1` of all elements. Over some dimensions: `var_dims`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[1.0, 2.0], [3.0, 6.0]]);
    /// assert!((x.var()?.item::<f64>()? - 4.666666667).abs() < 1e-6);
    /// # Ok::<(), Error>(())
    /// ```
    fn var(&self) -> Result<Tensor> {
        self.var_with(VarOptions::default())
    }

    /// Returns the variance, with the divisor `n - 1` over the dimensions. PyTorch: `var(dim)`. Candle: `var`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[1.0, 2.0], [3.0, 6.0]]);
    /// assert_eq!(x.var_dims(0)?.to_vec::<f64>()?, [2.0, 8.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn var_dims(&self, dims: impl IntoAxes) -> Result<Tensor> {
        crate::var_correction(self.borrow(), Some(&dims.into_axes()), None, false)
    }

    /// Returns the variance, with the divisor `n - 1` over the dimensions, which stay with size 1. PyTorch: `var(dim, keepdim=True)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[1.0, 2.0], [3.0, 6.0]]);
    /// assert_eq!(x.var_keepdim(0)?.sizes(), [1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn var_keepdim(&self, dims: impl IntoAxes) -> Result<Tensor> {
        crate::var_correction(self.borrow(), Some(&dims.into_axes()), None, true)
    }

    /// Returns the standard deviation, with the divisor `n - 1` of all elements. Over some dimensions: `std_dims`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[1.0, 2.0], [5.0, 10.0]]);
    /// assert!((x.std()?.item::<f64>()? - 4.041451884).abs() < 1e-6);
    /// # Ok::<(), Error>(())
    /// ```
    fn std(&self) -> Result<Tensor> {
        self.std_with(VarOptions::default())
    }

    /// Returns the standard deviation, with the divisor `n - 1` over the dimensions. PyTorch: `std(dim)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[1.0, 2.0], [5.0, 10.0]]);
    /// assert!(x.std_dims(0)?.allclose(&Tensor::from([2.828427125, 5.656854249]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn std_dims(&self, dims: impl IntoAxes) -> Result<Tensor> {
        crate::std_correction(self.borrow(), Some(&dims.into_axes()), None, false)
    }

    /// Returns the standard deviation, with the divisor `n - 1` over the dimensions, which stay with size 1. PyTorch: `std(dim, keepdim=True)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[1.0, 2.0], [5.0, 10.0]]);
    /// assert_eq!(x.std_keepdim(0)?.sizes(), [1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn std_keepdim(&self, dims: impl IntoAxes) -> Result<Tensor> {
        crate::std_correction(self.borrow(), Some(&dims.into_axes()), None, true)
    }

    /// Returns the variance, with options. PyTorch: `var(dim, correction=..., keepdim=...)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::VarOptions;
    /// let x = Tensor::from([[1.0, 2.0], [3.0, 6.0]]);
    /// assert_eq!(x.var_with(VarOptions { dims: 0.into(), correction: 0.0, ..VarOptions::default() })?.to_vec::<f64>()?, [1.0, 4.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn var_with(&self, options: VarOptions) -> Result<Tensor> {
        let (dims, correction, keepdim) = options.arguments();
        crate::var_correction(self.borrow(), dims, correction, keepdim)
    }

    /// Returns the standard deviation, with options. PyTorch: `std(dim, correction=..., keepdim=...)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::VarOptions;
    /// let x = Tensor::from([[1.0, 2.0], [3.0, 6.0]]);
    /// assert_eq!(x.std_with(VarOptions { dims: 0.into(), correction: 0.0, ..VarOptions::default() })?.to_vec::<f64>()?, [1.0, 2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn std_with(&self, options: VarOptions) -> Result<Tensor> {
        let (dims, correction, keepdim) = options.arguments();
        crate::std_correction(self.borrow(), dims, correction, keepdim)
    }

    /// Returns the largest element. Along one dimension: `max_dim`. Candle: `max_all`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 3.0]).max()?.item::<f64>()?, 3.0);
    /// # Ok::<(), Error>(())
    /// ```
    fn max(&self) -> Result<Tensor> {
        crate::max(self.borrow())
    }

    /// Returns the largest elements along a dimension, and their indices. PyTorch: `max(dim)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let (values, indices) = Tensor::from([[1.0, 5.0], [3.0, 4.0]]).max_dim(1)?;
    /// assert_eq!(values.to_vec::<f64>()?, [5.0, 4.0]);
    /// assert_eq!(indices.to_vec::<i64>()?, [1, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    fn max_dim(&self, dim: impl IntoInt) -> Result<(Tensor, Tensor)> {
        crate::max_dim(self.borrow(), dim.into_int(), false)
    }

    /// Returns the largest elements along a dimension, which stays with size 1, and their indices. PyTorch: `max(dim, keepdim=True)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let (values, _) = Tensor::from([[1.0, 5.0], [3.0, 4.0]]).max_keepdim(1)?;
    /// assert_eq!(values.sizes(), [2, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    fn max_keepdim(&self, dim: impl IntoInt) -> Result<(Tensor, Tensor)> {
        crate::max_dim(self.borrow(), dim.into_int(), true)
    }

    /// Returns the smallest element. Along one dimension: `min_dim`. Candle: `min_all`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 3.0]).min()?.item::<f64>()?, 1.0);
    /// # Ok::<(), Error>(())
    /// ```
    fn min(&self) -> Result<Tensor> {
        crate::min(self.borrow())
    }

    /// Returns the smallest elements along a dimension, and their indices. PyTorch: `min(dim)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let (values, indices) = Tensor::from([[1.0, 5.0], [3.0, 4.0]]).min_dim(1)?;
    /// assert_eq!(values.to_vec::<f64>()?, [1.0, 3.0]);
    /// assert_eq!(indices.to_vec::<i64>()?, [0, 0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn min_dim(&self, dim: impl IntoInt) -> Result<(Tensor, Tensor)> {
        crate::min_dim(self.borrow(), dim.into_int(), false)
    }

    /// Returns the smallest elements along a dimension, which stays with size 1, and their indices. PyTorch: `min(dim, keepdim=True)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let (values, _) = Tensor::from([[1.0, 5.0], [3.0, 4.0]]).min_keepdim(1)?;
    /// assert_eq!(values.sizes(), [2, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    fn min_keepdim(&self, dim: impl IntoInt) -> Result<(Tensor, Tensor)> {
        crate::min_dim(self.borrow(), dim.into_int(), true)
    }

    /// Returns the smallest and the largest element.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let (smallest, largest) = Tensor::from([3.0, 1.0, 2.0]).aminmax()?;
    /// assert_eq!((smallest.item::<f64>()?, largest.item::<f64>()?), (1.0, 3.0));
    /// # Ok::<(), Error>(())
    /// ```
    fn aminmax(&self) -> Result<(Tensor, Tensor)> {
        crate::aminmax(self.borrow(), None, false)
    }

    /// Returns the index of the largest element of the flattened tensor. Along one dimension: `argmax_dim`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1.0, 5.0], [3.0, 4.0]]).argmax()?.item::<i64>()?, 1);
    /// # Ok::<(), Error>(())
    /// ```
    fn argmax(&self) -> Result<Tensor> {
        crate::argmax(self.borrow(), None, false)
    }

    /// Returns the indices of the largest elements along a dimension. PyTorch: `argmax(dim)`. Candle: `argmax`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1.0, 5.0], [3.0, 4.0]]).argmax_dim(0)?.to_vec::<i64>()?, [1, 0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn argmax_dim(&self, dim: impl IntoInt) -> Result<Tensor> {
        crate::argmax(self.borrow(), Some(dim.into_int()), false)
    }

    /// Returns the indices of the largest elements along a dimension, which stays with size 1. PyTorch: `argmax(dim, keepdim=True)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1.0, 5.0], [3.0, 4.0]]).argmax_keepdim(0)?.sizes(), [1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn argmax_keepdim(&self, dim: impl IntoInt) -> Result<Tensor> {
        crate::argmax(self.borrow(), Some(dim.into_int()), true)
    }

    /// Returns the index of the smallest element of the flattened tensor. Along one dimension: `argmin_dim`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1.0, 5.0], [3.0, 0.0]]).argmin()?.item::<i64>()?, 3);
    /// # Ok::<(), Error>(())
    /// ```
    fn argmin(&self) -> Result<Tensor> {
        crate::argmin(self.borrow(), None, false)
    }

    /// Returns the indices of the smallest elements along a dimension. PyTorch: `argmin(dim)`. Candle: `argmin`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1.0, 5.0], [3.0, 4.0]]).argmin_dim(0)?.to_vec::<i64>()?, [0, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    fn argmin_dim(&self, dim: impl IntoInt) -> Result<Tensor> {
        crate::argmin(self.borrow(), Some(dim.into_int()), false)
    }

    /// Returns the indices of the smallest elements along a dimension, which stays with size 1. PyTorch: `argmin(dim, keepdim=True)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1.0, 5.0], [3.0, 4.0]]).argmin_keepdim(0)?.sizes(), [1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn argmin_keepdim(&self, dim: impl IntoInt) -> Result<Tensor> {
        crate::argmin(self.borrow(), Some(dim.into_int()), true)
    }

    /// Returns the number of elements that are not 0. Over some dimensions: `count_nonzero_dims`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([0.0, 1.0, 2.0]).count_nonzero()?.item::<i64>()?, 2);
    /// # Ok::<(), Error>(())
    /// ```
    fn count_nonzero(&self) -> Result<Tensor> {
        crate::count_nonzero(self.borrow(), None)
    }

    /// Returns the numbers of elements over the dimensions that are not 0. PyTorch: `count_nonzero(dim)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[0.0, 1.0], [2.0, 3.0]]).count_nonzero_dims(0)?.to_vec::<i64>()?, [1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn count_nonzero_dims(&self, dims: impl IntoAxes) -> Result<Tensor> {
        crate::count_nonzero_dim_intlist(self.borrow(), &dims.into_axes())
    }

    /// Returns the sum of all elements that are not NaN.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, f64::NAN]).nansum()?.item::<f64>()?, 1.0);
    /// # Ok::<(), Error>(())
    /// ```
    fn nansum(&self) -> Result<Tensor> {
        crate::nansum(self.borrow(), None, false, None)
    }

    /// Returns the mean of all elements that are not NaN.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, f64::NAN]).nanmean()?.item::<f64>()?, 1.0);
    /// # Ok::<(), Error>(())
    /// ```
    fn nanmean(&self) -> Result<Tensor> {
        crate::nanmean(self.borrow(), None, false, None)
    }

    /// Sums over broadcast dimensions, so that the result has the given sizes.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((2, 3), ())?.sum_to_size((1, 3))?.to_vec::<f32>()?, [2.0, 2.0, 2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn sum_to_size(&self, sizes: impl IntoSizes) -> Result<Tensor> {
        crate::sum_to_size(self.borrow(), &sizes.into_sizes())
    }

    /// Returns the median of all elements: the smaller one of the two in the middle. Along one dimension: `median_dim`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([3.0, 1.0, 2.0]).median()?.item::<f64>()?, 2.0);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "sort")]
    fn median(&self) -> Result<Tensor> {
        crate::median(self.borrow())
    }

    /// Returns the medians along a dimension, and their indices. PyTorch: `median(dim)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let (values, indices) = Tensor::from([[3.0, 1.0, 2.0]]).median_dim(1)?;
    /// assert_eq!(values.to_vec::<f64>()?, [2.0]);
    /// assert_eq!(indices.to_vec::<i64>()?, [2]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "sort")]
    fn median_dim(&self, dim: impl IntoInt) -> Result<(Tensor, Tensor)> {
        crate::median_dim(self.borrow(), dim.into_int(), false)
    }

    /// Returns the median of all elements that are not NaN.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([f64::NAN, 1.0, 2.0]).nanmedian()?.item::<f64>()?, 1.0);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "sort")]
    fn nanmedian(&self) -> Result<Tensor> {
        crate::nanmedian(self.borrow())
    }

    /// Returns the most frequent elements along a dimension, and their indices. PyTorch: `mode(dim)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let (values, _) = Tensor::from([[1, 2, 2]]).mode_dim(-1)?;
    /// assert_eq!(values.to_vec::<i32>()?, [2]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "sort")]
    fn mode_dim(&self, dim: impl IntoInt) -> Result<(Tensor, Tensor)> {
        crate::mode(self.borrow(), dim.into_int(), false)
    }
}

impl ReductionMethods for Tensor {}

/// The options of [`ReductionMethods::var_with`] and [`ReductionMethods::std_with`].
///
/// ```
/// assert_eq!(aten::VarOptions::default().correction, 1.0);
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct VarOptions {
    /// The dimensions to reduce. An empty list, the default, is all dimensions.
    pub dims: IntList,
    /// The number that is subtracted from the count in the divisor. The default is 1.
    pub correction: f64,
    /// Whether the dimensions stay with size 1.
    pub keepdim: bool,
}

impl Default for VarOptions {
    fn default() -> Self {
        Self { dims: IntList::default(), correction: 1.0, keepdim: false }
    }
}

impl VarOptions {
    /// Returns the arguments of the operators `var.correction` and `std.correction`.
    fn arguments(&self) -> (Option<&[i64]>, Option<Scalar>, bool) {
        (self.dims.if_not_empty(), Some(self.correction.into()), self.keepdim)
    }
}

/// Computes the product over several dimensions. An empty list is all dimensions.
fn reduce_prod(tensor: &Tensor, dims: &[i64], keepdim: bool) -> Result<Tensor> {
    let rank = tensor.sizes().len();
    let is_reduced = reduced_dims(rank, dims, "dim")?;
    if rank == 0 {
        return crate::prod(tensor, None);
    }
    let mut product = tensor.clone();
    for dim in (0..rank).rev().filter(|&dim| is_reduced[dim]) {
        product = crate::prod_dim_int(&product, dim.into_int(), keepdim, None)?;
    }
    Ok(product)
}
