//! Maxima under a sliding window.

use aten::MaxPoolOptions;
use dispatch_runtime::{IntoSizes, Result, Tensor};

use super::super::per_dimension::{per_dimension, per_dimension_or};
use super::check_padding;
use crate::forward::Forward;
use crate::summary::observe;

macro_rules! define_max_pools {
    ($($(#[$doc:meta])* $name:ident $rank:literal $pool:ident $pool_with_indices:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, crate::Module)]
        pub struct $name {
            kernel_size: [i64; $rank],
            stride: [i64; $rank],
            padding: [i64; $rank],
            dilation: [i64; $rank],
            ceil_mode: bool,
        }

        impl $name {
            /// Creates a layer whose windows do not overlap.
            ///
            /// # Errors
            ///
            /// Returns [`BadArgument`](dispatch_runtime::BadArgument) for a size below 1.
            pub fn new(kernel_size: impl IntoSizes) -> Result<Self> {
                Self::with(kernel_size, MaxPoolOptions::default())
            }

            /// Creates a layer with options.
            ///
            /// # Errors
            ///
            /// Returns [`BadArgument`](dispatch_runtime::BadArgument) for numbers out of range. The padding is at most half of a window.
            pub fn with(kernel_size: impl IntoSizes, options: MaxPoolOptions) -> Result<Self> {
                let kernel_size = per_dimension("kernel_size", &kernel_size.into_sizes(), 1)?;
                let stride = per_dimension_or("stride", &options.stride, 1, kernel_size)?;
                let padding = per_dimension_or("padding", &options.padding, 0, [0; $rank])?;
                let dilation = per_dimension_or("dilation", &options.dilation, 1, [1; $rank])?;
                check_padding(padding, kernel_size, dilation)?;
                Ok(Self { kernel_size, stride, padding, dilation, ceil_mode: options.ceil_mode })
            }

            /// Returns also the index of each maximum in its channel. PyTorch: `return_indices=True`.
            ///
            /// # Errors
            ///
            /// Returns the error of the operator, for an input of wrong sizes.
            pub fn forward_with_indices(&self, x: &Tensor) -> Result<(Tensor, Tensor)> {
                let Self { kernel_size, stride, padding, dilation, ceil_mode } = self;
                aten::$pool_with_indices(x, kernel_size, stride, padding, dilation, *ceil_mode)
            }
        }

        impl Forward for $name {
            type Output = Tensor;

            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                let Self { kernel_size, stride, padding, dilation, ceil_mode } = self;
                observe(self, aten::$pool(x, kernel_size, stride, padding, dilation, *ceil_mode))
            }
        }
    )*};
}

define_max_pools! {
    /// The maxima of the windows of sequences.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, MaxPool1d};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(MaxPool1d::new(2)?.forward(&Tensor::from([[1.0, 2.0, 4.0, 3.0]]))?.to_vec::<f64>()?, [2.0, 4.0]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    MaxPool1d 1 max_pool1d max_pool1d_with_indices;

    /// The maxima of the windows of images.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, MaxPool2d, MaxPoolOptions};
    /// use dispatch_runtime::Tensor;
    ///
    /// let x = Tensor::from([[[1.0, 2.0], [4.0, 3.0]]]);
    /// assert_eq!(MaxPool2d::new(2)?.forward(&x)?.to_vec::<f64>()?, [4.0]);
    /// let layer = MaxPool2d::with(2, MaxPoolOptions { stride: 1.into(), padding: 1.into(), ..MaxPoolOptions::default() })?;
    /// let (maxima, indices) = layer.forward_with_indices(&x)?;
    /// assert_eq!((maxima.sizes(), indices.sizes()), (&[1, 3, 3][..], &[1, 3, 3][..]));
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    MaxPool2d 2 max_pool2d max_pool2d_with_indices;

    /// The maxima of the windows of volumes.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, MaxPool3d};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(MaxPool3d::new((1, 2, 2))?.forward(&Tensor::zeros((1, 4, 4, 4), ())?)?.sizes(), [1, 4, 2, 2]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    MaxPool3d 3 max_pool3d max_pool3d_with_indices;
}
