//! Normalisation of channels, with running statistics: over a batch, and of each item alone.

use aten::prelude::*;
use dispatch_runtime::{BadArgument, DType, Expected, IntoInt, Result, Tensor};

use crate::forward::Forward;
use crate::param::{Buffer, Param, Training};
use crate::summary::observe;

/// The options of [`BatchNorm1d`], [`BatchNorm2d`] and [`BatchNorm3d`].
///
/// ```
/// assert_eq!(dispatch_nn::BatchNormOptions::default().momentum, Some(0.1));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BatchNormOptions {
    /// The number that is added to variances. The default is 1e-5.
    pub eps: f64,
    /// The part of the batch in the new running statistics, or `None` for the mean over all batches. The default is 0.1.
    pub momentum: Option<f64>,
    /// Whether the result is scaled by a weight, and moved by a bias, which is the default.
    pub affine: bool,
    /// Whether the layer has running statistics, for evaluation, which is the default.
    pub track_running_stats: bool,
    /// Whether an affine layer has a bias, which is the default.
    pub bias: bool,
}

impl Default for BatchNormOptions {
    fn default() -> Self {
        Self { eps: 1e-5, momentum: Some(0.1), affine: true, track_running_stats: true, bias: true }
    }
}

/// The options of [`InstanceNorm1d`], [`InstanceNorm2d`] and [`InstanceNorm3d`].
///
/// ```
/// assert!(!dispatch_nn::InstanceNormOptions::default().affine);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct InstanceNormOptions {
    /// The number that is added to variances. The default is 1e-5.
    pub eps: f64,
    /// The part of the batch in the new running statistics. The default is 0.1.
    pub momentum: f64,
    /// Whether the result is scaled by a weight, and moved by a bias. The default is no.
    pub affine: bool,
    /// Whether the layer has running statistics, for evaluation. The default is no.
    pub track_running_stats: bool,
    /// Whether an affine layer has a bias, which is the default.
    pub bias: bool,
}

impl Default for InstanceNormOptions {
    fn default() -> Self {
        Self { eps: 1e-5, momentum: 0.1, affine: false, track_running_stats: false, bias: true }
    }
}

macro_rules! define_channel_norms {
    ($normalise:ident, $options:ident: $($(#[$doc:meta])* $name:ident $ranks:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, crate::Module)]
        pub struct $name {
            /// The factor of each channel, if the layer is affine.
            pub weight: Option<Param>,
            /// The number that is added to each channel, if the layer is affine.
            pub bias: Option<Param>,
            /// The running mean of each channel.
            pub running_mean: Option<Buffer>,
            /// The running variance of each channel.
            pub running_var: Option<Buffer>,
            /// The number of batches in the running statistics.
            pub num_batches_tracked: Option<Buffer>,
            momentum: Option<f64>,
            eps: f64,
            training: Training,
        }

        impl $name {
            /// Creates a layer for a number of channels.
            ///
            /// # Errors
            ///
            /// Returns an error if the number is negative.
            pub fn new(num_features: impl IntoInt) -> Result<Self> {
                Self::with(num_features, $options::default())
            }

            /// Creates a layer with options. The weight is 1, the bias 0, the running mean 0, and the running variance 1.
            ///
            /// # Errors
            ///
            /// Returns an error if the number is negative.
            pub fn with(num_features: impl IntoInt, options: $options) -> Result<Self> {
                let channels = num_features.into_int();
                let running = |value| {
                    options.track_running_stats.then(|| Tensor::full(channels, value, DType::F32).map(Buffer::new)).transpose()
                };
                let counted = options.track_running_stats.then(|| Tensor::zeros((), DType::I64).map(Buffer::new));
                Ok(Self {
                    weight: affine_param(options.affine, channels, 1.0)?,
                    bias: affine_param(options.affine && options.bias, channels, 0.0)?,
                    running_mean: running(0.0)?,
                    running_var: running(1.0)?,
                    num_batches_tracked: counted.transpose()?,
                    momentum: options.momentum.into(),
                    eps: options.eps,
                    training: Training::ON,
                })
            }
        }

        impl Forward for $name {
            type Output = Tensor;

            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                let layer = ChannelNorm {
                    weight: self.weight.as_deref(),
                    bias: self.bias.as_deref(),
                    running_mean: self.running_mean.as_deref(),
                    running_var: self.running_var.as_deref(),
                    num_batches_tracked: self.num_batches_tracked.as_deref(),
                    momentum: self.momentum,
                    eps: self.eps,
                    training: self.training.is_on(),
                };
                observe(self, $normalise(&layer, x, $ranks))
            }
        }
    )*};
}

define_channel_norms! { batch_norm, BatchNormOptions:
    /// Normalises each channel over the batch: `[items, channels]`, or `[items, channels, length]`.
    ///
    /// Evaluation uses the running statistics of the batches in training.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{BatchNorm1d, Forward, Module};
    /// use dispatch_runtime::Tensor;
    ///
    /// let mut layer = BatchNorm1d::new(1)?;
    /// let y = layer.forward(&Tensor::from([[1.0_f32], [3.0]]))?;
    /// assert!(y.mean()?.item::<f32>()?.abs() < 1e-6);
    /// layer.eval();
    /// assert_eq!(layer.running_mean.unwrap().to_vec::<f32>()?, [0.2]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    BatchNorm1d &[2, 3];

    /// Normalises each channel over a batch of images: `[items, channels, height, width]`.
    ///
    /// Evaluation uses the running statistics of the batches in training.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{BatchNorm2d, Forward};
    /// use dispatch_runtime::Tensor;
    ///
    /// let layer = BatchNorm2d::new(3)?;
    /// assert_eq!(layer.forward(&Tensor::zeros((2, 3, 4, 4), ())?)?.sizes(), [2, 3, 4, 4]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    BatchNorm2d &[4];

    /// Normalises each channel over a batch of volumes: `[items, channels, depth, height, width]`.
    ///
    /// Evaluation uses the running statistics of the batches in training.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{BatchNorm3d, BatchNormOptions, Forward};
    /// use dispatch_runtime::Tensor;
    ///
    /// let layer = BatchNorm3d::with(3, BatchNormOptions { affine: false, ..BatchNormOptions::default() })?;
    /// assert_eq!(layer.forward(&Tensor::zeros((2, 3, 4, 4, 4), ())?)?.sizes(), [2, 3, 4, 4, 4]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    BatchNorm3d &[5];
}

define_channel_norms! { instance_norm, InstanceNormOptions:
    /// Normalises each channel of each item: `[items, channels, length]`, or `[channels, length]`.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, InstanceNorm1d};
    /// use dispatch_runtime::Tensor;
    ///
    /// let y = InstanceNorm1d::new(1)?.forward(&Tensor::from([[1.0_f32, 3.0]]))?;
    /// assert!(y.mean()?.item::<f32>()?.abs() < 1e-6);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    InstanceNorm1d &[2, 3];

    /// Normalises each channel of each image: `[items, channels, height, width]`, or `[channels, height, width]`.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, InstanceNorm2d, InstanceNormOptions};
    /// use dispatch_runtime::Tensor;
    ///
    /// let layer = InstanceNorm2d::with(3, InstanceNormOptions { affine: true, ..InstanceNormOptions::default() })?;
    /// assert_eq!(layer.forward(&Tensor::zeros((2, 3, 4, 4), ())?)?.sizes(), [2, 3, 4, 4]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    InstanceNorm2d &[3, 4];

    /// Normalises each channel of each volume: `[items, channels, depth, height, width]`, or `[channels, depth, height, width]`.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, InstanceNorm3d};
    /// use dispatch_runtime::Tensor;
    ///
    /// let layer = InstanceNorm3d::new(3)?;
    /// assert_eq!(layer.forward(&Tensor::zeros((3, 4, 4, 4), ())?)?.sizes(), [3, 4, 4, 4]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    InstanceNorm3d &[4, 5];
}

/// The parts of a layer that normalises channels.
struct ChannelNorm<'a> {
    weight: Option<&'a Tensor>,
    bias: Option<&'a Tensor>,
    running_mean: Option<&'a Tensor>,
    running_var: Option<&'a Tensor>,
    num_batches_tracked: Option<&'a Tensor>,
    momentum: Option<f64>,
    eps: f64,
    training: bool,
}

fn batch_norm(layer: &ChannelNorm<'_>, x: &Tensor, ranks: &'static [usize]) -> Result<Tensor> {
    check_rank(x, ranks)?;
    let uses_batch = layer.training || layer.running_mean.is_none();
    if uses_batch && values_per_channel(x.sizes(), 0) == 1 {
        return Err(BadArgument::sizes("input", x.sizes(), "more than one value for each channel")
            .because("one value has no variance; use a larger batch, or `eval`")
            .into());
    }
    let mut momentum = layer.momentum.unwrap_or(0.0);
    if let Some(count) = layer.num_batches_tracked.filter(|_| layer.training) {
        count.add_(1)?;
        if layer.momentum.is_none() {
            momentum = count.item::<f64>()?.recip();
        }
    }
    let ChannelNorm { weight, bias, running_mean, running_var, eps, .. } = *layer;
    aten::batch_norm(x, weight, bias, running_mean, running_var, uses_batch, momentum, eps, true)
}

fn instance_norm(layer: &ChannelNorm<'_>, x: &Tensor, ranks: &'static [usize]) -> Result<Tensor> {
    check_rank(x, ranks)?;
    if ranks.first() == Some(&x.sizes().len()) {
        return instance_norm_of_batch(layer, &x.unsqueeze(0)?)?.squeeze_dims(0);
    }
    instance_norm_of_batch(layer, x)
}

fn instance_norm_of_batch(layer: &ChannelNorm<'_>, x: &Tensor) -> Result<Tensor> {
    let uses_item = layer.training || layer.running_mean.is_none();
    if uses_item && values_per_channel(x.sizes(), 1) == 1 {
        return Err(BadArgument::sizes("input", x.sizes(), "more than one value for each channel of an item")
            .because("one value has no variance")
            .into());
    }
    let ChannelNorm { weight, bias, running_mean, running_var, eps, .. } = *layer;
    let momentum = layer.momentum.unwrap_or(0.0);
    aten::instance_norm(x, weight, bias, running_mean, running_var, uses_item, momentum, eps, true)
}

fn check_rank(x: &Tensor, ranks: &'static [usize]) -> Result<()> {
    if ranks.contains(&x.sizes().len()) {
        Ok(())
    } else {
        Err(BadArgument::rank("input", x.sizes().len(), Expected::OneOf(ranks)).into())
    }
}

/// Returns the number of values of a channel, over the dimensions from `first` that are not the channels.
fn values_per_channel(sizes: &[i64], first: usize) -> i64 {
    let inner = sizes.iter().enumerate().filter(|(dim, _)| *dim >= first && *dim != 1);
    inner.fold(1, |count, (_, size)| count.saturating_mul(*size))
}

/// Returns a parameter of one value, if the layer has it.
pub(super) fn affine_param(exists: bool, sizes: impl dispatch_runtime::IntoSizes, value: f64) -> Result<Option<Param>> {
    if exists { Param::new(Tensor::full(sizes, value, DType::F32)?).map(Some) } else { Ok(None) }
}
