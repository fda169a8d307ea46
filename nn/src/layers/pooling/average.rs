//! Means under a sliding window.

use aten::AvgPoolOptions;
use dispatch_runtime::{BadArgument, Expected, IntoSizes, Result, Tensor};

use super::super::per_dimension::{per_dimension, per_dimension_or};
use super::check_padding;
use crate::forward::Forward;
use crate::summary::observe;

macro_rules! define_average_pools {
    ($($(#[$doc:meta])* $name:ident $rank:literal |$layer:ident, $x:ident| $result:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, crate::Module)]
        pub struct $name {
            windows: [[i64; $rank]; 3],
            ceil_mode: bool,
            count_include_pad: bool,
            divisor: Option<i64>,
        }

        impl $name {
            /// Creates a layer whose windows do not overlap.
            ///
            /// # Errors
            ///
            /// Returns [`BadArgument`] for a size below 1.
            pub fn new(kernel_size: impl IntoSizes) -> Result<Self> {
                Self::with(kernel_size, AvgPoolOptions::default())
            }

            /// Creates a layer with options.
            ///
            /// # Errors
            ///
            /// Returns [`BadArgument`] for numbers out of range. The padding is at most half of a window.
            pub fn with(kernel_size: impl IntoSizes, options: AvgPoolOptions) -> Result<Self> {
                Ok(Self {
                    windows: windows(&kernel_size.into_sizes(), &options)?,
                    ceil_mode: options.ceil_mode,
                    count_include_pad: options.count_include_pad,
                    divisor: options.divisor,
                })
            }
        }

        impl Forward for $name {
            type Output = Tensor;

            fn forward(&self, $x: &Tensor) -> Result<Tensor> {
                let $layer = self;
                observe(self, $result)
            }
        }
    )*};
}

define_average_pools! {
    /// The means of the windows of sequences.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{AvgPool1d, Forward};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(AvgPool1d::new(2)?.forward(&Tensor::from([[1.0, 2.0, 4.0, 3.0]]))?.to_vec::<f64>()?, [1.5, 3.5]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    AvgPool1d 1 |layer, x| {
        let [kernel_size, stride, padding] = &layer.windows;
        aten::avg_pool1d(x, kernel_size, stride, padding, layer.ceil_mode, layer.count_include_pad)
    };

    /// The means of the windows of images.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{AvgPool2d, AvgPoolOptions, Forward};
    /// use dispatch_runtime::Tensor;
    ///
    /// let layer = AvgPool2d::with(3, AvgPoolOptions { stride: 1.into(), padding: 1.into(), ..AvgPoolOptions::default() })?;
    /// assert_eq!(layer.forward(&Tensor::zeros((1, 4, 4), ())?)?.sizes(), [1, 4, 4]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    AvgPool2d 2 |layer, x| {
        let [kernel_size, stride, padding] = &layer.windows;
        aten::avg_pool2d(x, kernel_size, stride, padding, layer.ceil_mode, layer.count_include_pad, layer.divisor)
    };

    /// The means of the windows of volumes.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{AvgPool3d, Forward};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(AvgPool3d::new(2)?.forward(&Tensor::zeros((1, 4, 4, 4), ())?)?.sizes(), [1, 2, 2, 2]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    AvgPool3d 3 |layer, x| {
        let [kernel_size, stride, padding] = &layer.windows;
        aten::avg_pool3d(x, kernel_size, stride, padding, layer.ceil_mode, layer.count_include_pad, layer.divisor)
    };
}

/// Returns the sizes of windows, the distances between them, and the padding.
fn windows<const N: usize>(kernel_size: &[i64], options: &AvgPoolOptions) -> Result<[[i64; N]; 3]> {
    let kernel_size = per_dimension("kernel_size", kernel_size, 1)?;
    let stride = per_dimension_or("stride", &options.stride, 1, kernel_size)?;
    let padding = per_dimension_or("padding", &options.padding, 0, [0; N])?;
    check_padding(padding, kernel_size, [1; N])?;
    match options.divisor {
        Some(divisor) if N == 1 => {
            Err(BadArgument::value("divisor", divisor, "left out, because pooling of sequences has none").into())
        }
        Some(0) => Err(BadArgument::number("divisor", 0, Expected::Not(0.into())).into()),
        _ => Ok([kernel_size, stride, padding]),
    }
}
