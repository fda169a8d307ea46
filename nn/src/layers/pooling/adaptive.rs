//! Pooling of inputs of any size to a fixed output size.

use dispatch_runtime::{IntoSizes, Result, Tensor};

use super::super::per_dimension::per_dimension;
use crate::forward::Forward;
use crate::summary::observe;

macro_rules! define_adaptive_pools {
    ($($(#[$doc:meta])* $name:ident $rank:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, crate::Module)]
        pub struct $name {
            output_size: [i64; $rank],
        }

        impl $name {
            /// Creates the layer. One number counts for all dimensions.
            ///
            /// # Errors
            ///
            /// Returns [`BadArgument`](dispatch_runtime::BadArgument) for a negative size.
            pub fn new(output_size: impl IntoSizes) -> Result<Self> {
                Ok(Self { output_size: per_dimension("output_size", &output_size.into_sizes(), 0)? })
            }
        }
    )*};
}

macro_rules! define_adaptive_average_pools {
    ($($(#[$doc:meta])* $name:ident $rank:literal $pool:ident;)*) => {$(
        define_adaptive_pools! { $(#[$doc])* $name $rank; }

        impl Forward for $name {
            type Output = Tensor;

            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                observe(self, aten::$pool(x, &self.output_size))
            }
        }
    )*};
}

macro_rules! define_adaptive_max_pools {
    ($($(#[$doc:meta])* $name:ident $rank:literal $pool:ident;)*) => {$(
        define_adaptive_pools! { $(#[$doc])* $name $rank; }

        impl $name {
            /// Returns also the index of each maximum in its channel. PyTorch: `return_indices=True`.
            ///
            /// # Errors
            ///
            /// Returns the error of the operator, for an input of wrong sizes.
            pub fn forward_with_indices(&self, x: &Tensor) -> Result<(Tensor, Tensor)> {
                aten::$pool(x, &self.output_size)
            }
        }

        impl Forward for $name {
            type Output = Tensor;

            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                observe(self, self.forward_with_indices(x).map(|results| results.0))
            }
        }
    )*};
}

define_adaptive_average_pools! {
    /// The means of as many windows of sequences as the output has elements.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{AdaptiveAvgPool1d, Forward};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(AdaptiveAvgPool1d::new(2)?.forward(&Tensor::from([[1.0, 2.0, 4.0, 3.0]]))?.to_vec::<f64>()?, [1.5, 3.5]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    AdaptiveAvgPool1d 1 adaptive_avg_pool1d;

    /// The means of as many windows of images as the output has elements.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{AdaptiveAvgPool2d, Forward};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(AdaptiveAvgPool2d::new(1)?.forward(&Tensor::zeros((2, 3, 5, 7), ())?)?.sizes(), [2, 3, 1, 1]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    AdaptiveAvgPool2d 2 adaptive_avg_pool2d;

    /// The means of as many windows of volumes as the output has elements.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{AdaptiveAvgPool3d, Forward};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(AdaptiveAvgPool3d::new((1, 2, 3))?.forward(&Tensor::zeros((1, 4, 4, 4), ())?)?.sizes(), [1, 1, 2, 3]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    AdaptiveAvgPool3d 3 adaptive_avg_pool3d;
}

define_adaptive_max_pools! {
    /// The maxima of as many windows of sequences as the output has elements.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{AdaptiveMaxPool1d, Forward};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(AdaptiveMaxPool1d::new(2)?.forward(&Tensor::from([[1.0, 2.0, 4.0, 3.0]]))?.to_vec::<f64>()?, [2.0, 4.0]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    AdaptiveMaxPool1d 1 adaptive_max_pool1d;

    /// The maxima of as many windows of images as the output has elements.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{AdaptiveMaxPool2d, Forward};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(AdaptiveMaxPool2d::new(1)?.forward(&Tensor::zeros((2, 3, 5, 7), ())?)?.sizes(), [2, 3, 1, 1]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    AdaptiveMaxPool2d 2 adaptive_max_pool2d;

    /// The maxima of as many windows of volumes as the output has elements.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{AdaptiveMaxPool3d, Forward};
    /// use dispatch_runtime::Tensor;
    /// assert_eq!(AdaptiveMaxPool3d::new((1, 2, 3))?.forward(&Tensor::zeros((1, 4, 4, 4), ())?)?.sizes(), [1, 1, 2, 3]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    AdaptiveMaxPool3d 3 adaptive_max_pool3d;
}
