//! Norms, and normalisation layers.

use std::borrow::Borrow;

#[cfg(feature = "norm")]
use dispatch_runtime::IntoSizes;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{IntoAxes, IntoInt};

use crate::IntList;

/// Norms of tensors, and the normalisations of neural networks.
pub trait NormMethods: Borrow<Tensor> {
    /// Returns the square root of the sum of squares.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([3.0, 4.0]).norm()?.item::<f64>()?, 5.0);
    /// # Ok::<(), Error>(())
    /// ```
    fn norm(&self) -> Result<Tensor> {
        crate::norm_scalar(self.borrow(), 2.into())
    }

    /// Returns the norms over dimensions. PyTorch: `norm(dim=...)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[3.0, 4.0]]).norm_dims(1)?.to_vec::<f64>()?, [5.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn norm_dims(&self, dims: impl IntoAxes) -> Result<Tensor> {
        crate::norm_scalaropt_dim(self.borrow(), Some(2.into()), &dims.into_axes(), false)
    }

    /// Returns the norms over dimensions, which stay with size 1. PyTorch: `norm(dim=..., keepdim=True)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[3.0, 4.0]]).norm_keepdim(1)?.sizes(), [1, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    fn norm_keepdim(&self, dims: impl IntoAxes) -> Result<Tensor> {
        crate::norm_scalaropt_dim(self.borrow(), Some(2.into()), &dims.into_axes(), true)
    }

    /// Returns norms of any order. PyTorch: `norm(p, dim, keepdim)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::NormOptions;
    /// let x = Tensor::from([3.0, -4.0]);
    /// assert_eq!(x.norm_with(NormOptions { p: 1.0, ..NormOptions::default() })?.item::<f64>()?, 7.0);
    /// # Ok::<(), Error>(())
    /// ```
    fn norm_with(&self, options: NormOptions) -> Result<Tensor> {
        crate::norm_scalaropt_dim(self.borrow(), Some(options.p.into()), options.dims.as_slice(), options.keepdim)
    }

    /// Returns the norm of the difference.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([3.0, 4.0]).dist(&Tensor::from([0.0, 0.0]))?.item::<f64>()?, 5.0);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "products")]
    fn dist(&self, other: &Tensor) -> Result<Tensor> {
        crate::dist(self.borrow(), other, 2.into())
    }

    /// Scales the slices of a dimension down, so that their norms are at most `maxnorm`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[3.0, 4.0]]).renorm(2, 0, 10)?.to_vec::<f64>()?, [3.0, 4.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn renorm(&self, p: impl Into<Scalar>, dim: impl IntoInt, maxnorm: impl Into<Scalar>) -> Result<Tensor> {
        crate::renorm(self.borrow(), p.into(), dim.into_int(), maxnorm.into())
    }

    /// Divides vectors along a dimension by their norms. PyTorch: `F.normalize(dim=...)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([3.0, 4.0]).normalize(0)?.allclose(&Tensor::from([0.6, 0.8]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn normalize(&self, dim: impl IntoInt) -> Result<Tensor> {
        crate::functional::normalize(self.borrow(), 2.0, dim.into_int(), 1e-12)
    }

    /// Normalises over the last dimensions, whose sizes are given.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([1.0, -1.0]).layer_norm(2)?.allclose(&Tensor::from([0.999995000, -0.999995000]))?);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "norm")]
    fn layer_norm(&self, sizes: impl IntoSizes) -> Result<Tensor> {
        self.layer_norm_with(sizes, AffineOptions::default())
    }

    /// Normalises over the last dimensions, with a weight and a bias.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::AffineOptions;
    /// let weight = Tensor::from([2.0, 2.0]);
    /// let options = AffineOptions { weight: Some(&weight), ..AffineOptions::default() };
    /// assert!(Tensor::from([1.0, -1.0]).layer_norm_with(2, options)?.allclose(&Tensor::from([1.999990000, -1.999990000]))?);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "norm")]
    fn layer_norm_with(&self, sizes: impl IntoSizes, options: AffineOptions<'_>) -> Result<Tensor> {
        crate::layer_norm(self.borrow(), &sizes.into_sizes(), options.weight, options.bias, options.eps, true)
    }

    /// Divides by the root of the mean square over the last dimensions, whose sizes are given.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([1.0, -1.0]).rms_norm(2)?.allclose(&Tensor::from([1.0, -1.0]))?);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "norm")]
    fn rms_norm(&self, sizes: impl IntoSizes) -> Result<Tensor> {
        crate::rms_norm(self.borrow(), &sizes.into_sizes(), None, None)
    }

    /// Divides by the root of the mean square, and multiplies by a weight. PyTorch: `F.rms_norm(sizes, weight, eps)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, -1.0]).rms_norm_with(2, &Tensor::from([2.0, 2.0]), 0.0)?.to_vec::<f64>()?, [2.0, -2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "norm")]
    fn rms_norm_with(&self, sizes: impl IntoSizes, weight: &Tensor, eps: f64) -> Result<Tensor> {
        crate::rms_norm(self.borrow(), &sizes.into_sizes(), Some(weight), Some(eps))
    }

    /// Normalises over groups of channels. PyTorch: `F.group_norm`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([[1.0, -1.0]]).group_norm(1)?.allclose(&Tensor::from([[0.999995000, -0.999995000]]))?);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "norm")]
    fn group_norm(&self, groups: impl IntoInt) -> Result<Tensor> {
        self.group_norm_with(groups, AffineOptions::default())
    }

    /// Normalises over groups of channels, with a weight and a bias.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::AffineOptions;
    /// assert_eq!(Tensor::from([[1.0, -1.0]]).group_norm_with(1, AffineOptions { eps: 0.0, ..AffineOptions::default() })?.to_vec::<f64>()?, [1.0, -1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "norm")]
    fn group_norm_with(&self, groups: impl IntoInt, options: AffineOptions<'_>) -> Result<Tensor> {
        crate::group_norm(self.borrow(), groups.into_int(), options.weight, options.bias, options.eps, true)
    }

    /// Normalises each channel over the batch, and updates the running statistics while training.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::BatchNormOptions;
    /// let options = BatchNormOptions { training: true, eps: 0.0, ..BatchNormOptions::default() };
    /// assert_eq!(Tensor::from([[1.0], [-1.0]]).batch_norm(options)?.to_vec::<f64>()?, [1.0, -1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "norm")]
    fn batch_norm(&self, options: BatchNormOptions<'_>) -> Result<Tensor> {
        crate::batch_norm(
            self.borrow(),
            options.weight,
            options.bias,
            options.running_mean,
            options.running_var,
            options.training,
            options.momentum,
            options.eps,
            true,
        )
    }
}

impl NormMethods for Tensor {}

/// The options of [`NormMethods::norm_with`].
///
/// ```
/// assert_eq!(aten::NormOptions::default().p, 2.0);
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct NormOptions {
    /// The order of the norm. The default is 2.
    pub p: f64,
    /// The dimensions. An empty list, the default, is all dimensions.
    pub dims: IntList,
    /// Whether the dimensions stay with size 1.
    pub keepdim: bool,
}

impl Default for NormOptions {
    fn default() -> Self {
        Self { p: 2.0, dims: IntList::default(), keepdim: false }
    }
}

/// The options of [`NormMethods::layer_norm_with`] and [`NormMethods::group_norm_with`].
///
/// ```
/// assert_eq!(aten::AffineOptions::default().eps, 1e-5);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct AffineOptions<'a> {
    /// The factors of the normalised elements.
    pub weight: Option<&'a Tensor>,
    /// The numbers that are added.
    pub bias: Option<&'a Tensor>,
    /// The number that is added to the variance. The default is `1e-5`.
    pub eps: f64,
}

impl Default for AffineOptions<'_> {
    fn default() -> Self {
        Self { weight: None, bias: None, eps: 1e-5 }
    }
}

/// The options of [`NormMethods::batch_norm`].
///
/// ```
/// assert_eq!(aten::BatchNormOptions::default().momentum, 0.1);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BatchNormOptions<'a> {
    /// The factors of the normalised elements, one for each channel.
    pub weight: Option<&'a Tensor>,
    /// The numbers that are added, one for each channel.
    pub bias: Option<&'a Tensor>,
    /// The running means, which training updates.
    pub running_mean: Option<&'a Tensor>,
    /// The running variances, which training updates.
    pub running_var: Option<&'a Tensor>,
    /// Whether the batch's own statistics are used.
    pub training: bool,
    /// The part of the batch in the running statistics. The default is 0.1.
    pub momentum: f64,
    /// The number that is added to the variance. The default is `1e-5`.
    pub eps: f64,
}

impl Default for BatchNormOptions<'_> {
    fn default() -> Self {
        Self {
            weight: None,
            bias: None,
            running_mean: None,
            running_var: None,
            training: false,
            momentum: 0.1,
            eps: 1e-5,
        }
    }
}
