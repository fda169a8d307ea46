//! Normalisation of each item alone: over groups of channels, over the last dimensions, and over neighbouring channels.

use aten::IntList;
use dispatch_runtime::{BadArgument, Expected, IntoInt, IntoSizes, Result, Tensor};

use super::channel_norm::affine_param;
use crate::forward::Forward;
use crate::param::Param;
use crate::summary::observe;

/// The options of [`GroupNorm`].
///
/// ```
/// assert!(dispatch_nn::GroupNormOptions::default().affine);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GroupNormOptions {
    /// The number that is added to variances. The default is 1e-5.
    pub eps: f64,
    /// Whether the result is scaled by a weight, and moved by a bias, which is the default.
    pub affine: bool,
    /// Whether an affine layer has a bias, which is the default.
    pub bias: bool,
}

impl Default for GroupNormOptions {
    fn default() -> Self {
        Self { eps: 1e-5, affine: true, bias: true }
    }
}

/// Normalises each group of channels of each item.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::{Forward, GroupNorm};
/// use dispatch_runtime::Tensor;
///
/// let layer = GroupNorm::new(2, 6)?;
/// assert_eq!(layer.forward(&Tensor::zeros((1, 6, 4, 4), ())?)?.sizes(), [1, 6, 4, 4]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug, crate::Module)]
pub struct GroupNorm {
    /// The factor of each channel, if the layer is affine.
    pub weight: Option<Param>,
    /// The number that is added to each channel, if the layer is affine.
    pub bias: Option<Param>,
    num_groups: i64,
    eps: f64,
}

impl GroupNorm {
    /// Creates an affine layer.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if the groups do not divide the channels.
    pub fn new(num_groups: impl IntoInt, num_channels: impl IntoInt) -> Result<Self> {
        Self::with(num_groups, num_channels, GroupNormOptions::default())
    }

    /// Creates a layer with options. The weight is 1, and the bias is 0.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if the groups do not divide the channels.
    pub fn with(num_groups: impl IntoInt, num_channels: impl IntoInt, options: GroupNormOptions) -> Result<Self> {
        let (num_groups, channels) = (num_groups.into_int(), num_channels.into_int());
        if num_groups < 1 || channels % num_groups != 0 {
            return Err(BadArgument::number("num_groups", num_groups, Expected::DivisorOf(channels.into()))
                .because("this is the number of channels")
                .into());
        }
        Ok(Self {
            weight: affine_param(options.affine, channels, 1.0)?,
            bias: affine_param(options.affine && options.bias, channels, 0.0)?,
            num_groups,
            eps: options.eps,
        })
    }
}

impl Forward for GroupNorm {
    type Output = Tensor;

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let (weight, bias) = (self.weight.as_deref(), self.bias.as_deref());
        observe(self, aten::group_norm(x, self.num_groups, weight, bias, self.eps, true))
    }
}

/// The options of [`LayerNorm`].
///
/// ```
/// assert!(dispatch_nn::LayerNormOptions::default().elementwise_affine);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LayerNormOptions {
    /// The number that is added to variances. The default is 1e-5.
    pub eps: f64,
    /// Whether the result is scaled by a weight, and moved by a bias, which is the default.
    pub elementwise_affine: bool,
    /// Whether an affine layer has a bias, which is the default.
    pub bias: bool,
}

impl Default for LayerNormOptions {
    fn default() -> Self {
        Self { eps: 1e-5, elementwise_affine: true, bias: true }
    }
}

/// Normalises over the last dimensions, to the mean 0 and the variance 1.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::{Forward, LayerNorm};
/// use dispatch_runtime::Tensor;
///
/// let y = LayerNorm::new(2)?.forward(&Tensor::from([[1.0_f32, 3.0], [5.0, 9.0]]))?;
/// assert!(y.allclose(&Tensor::from([[-1.0_f32, 1.0], [-1.0, 1.0]]))?);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug, crate::Module)]
pub struct LayerNorm {
    /// The factors, of the normalised sizes, if the layer is affine.
    pub weight: Option<Param>,
    /// The numbers that are added, of the normalised sizes, if the layer is affine.
    pub bias: Option<Param>,
    #[module(skip)]
    normalized_shape: IntList,
    eps: f64,
}

impl LayerNorm {
    /// Creates an affine layer. `normalized_shape` is the sizes of the last dimensions.
    ///
    /// # Errors
    ///
    /// Returns an error if a size is negative.
    pub fn new(normalized_shape: impl IntoSizes) -> Result<Self> {
        Self::with(normalized_shape, LayerNormOptions::default())
    }

    /// Creates a layer with options. The weight is 1, and the bias is 0.
    ///
    /// # Errors
    ///
    /// Returns an error if a size is negative.
    pub fn with(normalized_shape: impl IntoSizes, options: LayerNormOptions) -> Result<Self> {
        let normalized_shape = IntList::from(normalized_shape);
        Ok(Self {
            weight: affine_param(options.elementwise_affine, normalized_shape.as_slice(), 1.0)?,
            bias: affine_param(options.elementwise_affine && options.bias, normalized_shape.as_slice(), 0.0)?,
            normalized_shape,
            eps: options.eps,
        })
    }
}

impl Forward for LayerNorm {
    type Output = Tensor;

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let (weight, bias) = (self.weight.as_deref(), self.bias.as_deref());
        observe(self, aten::layer_norm(x, self.normalized_shape.as_slice(), weight, bias, self.eps, true))
    }
}

/// The options of [`RMSNorm`].
///
/// ```
/// assert_eq!(dispatch_nn::RMSNormOptions::default().eps, None);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RMSNormOptions {
    /// The number that is added to mean squares. The default is the machine epsilon of the dtype.
    pub eps: Option<f64>,
    /// Whether the result is scaled by a weight, which is the default.
    pub elementwise_affine: bool,
}

impl Default for RMSNormOptions {
    fn default() -> Self {
        Self { eps: None, elementwise_affine: true }
    }
}

/// Divides by the root of the mean square over the last dimensions.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::{Forward, RMSNorm};
/// use dispatch_runtime::Tensor;
///
/// let y = RMSNorm::new(2)?.forward(&Tensor::from([[3.0_f32, -3.0]]))?;
/// assert!(y.allclose(&Tensor::from([[1.0_f32, -1.0]]))?);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug, crate::Module)]
pub struct RMSNorm {
    /// The factors, of the normalised sizes, if the layer is affine.
    pub weight: Option<Param>,
    #[module(skip)]
    normalized_shape: IntList,
    eps: Option<f64>,
}

impl RMSNorm {
    /// Creates an affine layer. `normalized_shape` is the sizes of the last dimensions.
    ///
    /// # Errors
    ///
    /// Returns an error if a size is negative.
    pub fn new(normalized_shape: impl IntoSizes) -> Result<Self> {
        Self::with(normalized_shape, RMSNormOptions::default())
    }

    /// Creates a layer with options. The weight is 1.
    ///
    /// # Errors
    ///
    /// Returns an error if a size is negative.
    pub fn with(normalized_shape: impl IntoSizes, options: RMSNormOptions) -> Result<Self> {
        let normalized_shape = IntList::from(normalized_shape);
        let weight = affine_param(options.elementwise_affine, normalized_shape.as_slice(), 1.0)?;
        Ok(Self { weight, normalized_shape, eps: options.eps })
    }
}

impl Forward for RMSNorm {
    type Output = Tensor;

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        observe(self, aten::rms_norm(x, self.normalized_shape.as_slice(), self.weight.as_deref(), self.eps))
    }
}

/// Divides each element by `(k + alpha * s)^beta`, for the mean `s` of the squares of neighbouring channels.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::{Forward, LocalResponseNorm};
/// use dispatch_runtime::Tensor;
///
/// let layer = LocalResponseNorm { k: 2.0, ..LocalResponseNorm::new(5) };
/// assert_eq!(layer.forward(&Tensor::zeros((1, 8, 4, 4), ())?)?.sizes(), [1, 8, 4, 4]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug, crate::Module)]
pub struct LocalResponseNorm {
    /// The number of neighbouring channels.
    pub size: i64,
    /// The factor of the mean. The default is 1e-4.
    pub alpha: f64,
    /// The exponent. The default is 0.75.
    pub beta: f64,
    /// The number that is added. The default is 1.
    pub k: f64,
}

impl LocalResponseNorm {
    /// Creates a layer with the default options.
    #[must_use]
    pub fn new(size: impl IntoInt) -> Self {
        Self { size: size.into_int(), alpha: 1e-4, beta: 0.75, k: 1.0 }
    }
}

impl Forward for LocalResponseNorm {
    type Output = Tensor;

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        observe(self, aten::functional::local_response_norm(x, self.size, self.alpha, self.beta, self.k))
    }
}
