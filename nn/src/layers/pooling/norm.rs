//! Norms under a sliding window.

use aten::IntList;
use dispatch_runtime::{BadArgument, Expected, IntoSizes, Result, Tensor};

use super::super::per_dimension::{per_dimension, per_dimension_or};
use crate::forward::Forward;
use crate::summary::observe;

/// The options of [`LPPool1d`], [`LPPool2d`] and [`LPPool3d`].
///
/// ```
/// assert!(!dispatch_nn::LPPoolOptions::default().ceil_mode);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LPPoolOptions {
    /// The distances between windows. The default is the size of a window.
    pub stride: IntList,
    /// Whether windows that reach beyond the end count.
    pub ceil_mode: bool,
}

macro_rules! define_norm_pools {
    ($($(#[$doc:meta])* $name:ident $rank:literal $pool:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, crate::Module)]
        pub struct $name {
            norm_type: f64,
            kernel_size: [i64; $rank],
            stride: [i64; $rank],
            ceil_mode: bool,
        }

        impl $name {
            /// Creates a layer for the norm of order `norm_type`, whose windows do not overlap.
            ///
            /// # Errors
            ///
            /// Returns [`BadArgument`] if the order is 0, or for a size below 1.
            pub fn new(norm_type: f64, kernel_size: impl IntoSizes) -> Result<Self> {
                Self::with(norm_type, kernel_size, LPPoolOptions::default())
            }

            /// Creates a layer with options.
            ///
            /// # Errors
            ///
            /// Returns [`BadArgument`] for numbers out of range.
            pub fn with(norm_type: f64, kernel_size: impl IntoSizes, options: LPPoolOptions) -> Result<Self> {
                if norm_type == 0.0 {
                    return Err(BadArgument::number("norm_type", norm_type, Expected::Not(0.into())).into());
                }
                let kernel_size = per_dimension("kernel_size", &kernel_size.into_sizes(), 1)?;
                let stride = per_dimension_or("stride", &options.stride, 1, kernel_size)?;
                Ok(Self { norm_type, kernel_size, stride, ceil_mode: options.ceil_mode })
            }
        }

        impl Forward for $name {
            type Output = Tensor;

            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                let pooled = aten::functional::$pool(x, self.norm_type, &self.kernel_size, &self.stride, self.ceil_mode);
                observe(self, pooled)
            }
        }
    )*};
}

define_norm_pools! {
    /// The norms of the windows of sequences.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, LPPool1d};
    /// use dispatch_runtime::Tensor;
    /// assert!(LPPool1d::new(2.0, 2)?.forward(&Tensor::from([[3.0, 4.0]]))?.allclose(&Tensor::from([[5.0]]))?);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    LPPool1d 1 lp_pool1d;

    /// The norms of the windows of images.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, LPPool2d};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(LPPool2d::new(2.0, 2)?.forward(&Tensor::ones((1, 2, 2), ())?)?.to_vec::<f32>()?, [2.0]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    LPPool2d 2 lp_pool2d;

    /// The norms of the windows of volumes.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, LPPool3d};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(LPPool3d::new(1.0, 2)?.forward(&Tensor::ones((1, 2, 2, 2), ())?)?.to_vec::<f32>()?, [8.0]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    LPPool3d 3 lp_pool3d;
}
