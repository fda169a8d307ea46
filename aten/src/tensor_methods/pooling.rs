//! Pooling.

use std::borrow::Borrow;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, IntoSizes};

use crate::{AvgPoolOptions, MaxPoolOptions};

/// Pooling of sequences, images and volumes.
pub trait PoolingMethods: Borrow<Tensor> {
    /// Returns the largest element of each window of sequences. The windows do not overlap.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((1, 1, 4), ())?.max_pool1d(2)?.sizes(), [1, 1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "pooling")]
    fn max_pool1d(&self, kernel_size: impl IntoSizes) -> Result<Tensor> {
        self.max_pool1d_with(kernel_size, MaxPoolOptions::default())
    }

    /// Returns the largest element of each window of sequences, with options. Candle: `max_pool1d_with_stride`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::MaxPoolOptions;
    /// let options = MaxPoolOptions { stride: 1.into(), ..MaxPoolOptions::default() };
    /// assert_eq!(Tensor::ones((1, 1, 4), ())?.max_pool1d_with(2, options)?.sizes(), [1, 1, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "pooling")]
    fn max_pool1d_with(&self, kernel_size: impl IntoSizes, options: MaxPoolOptions) -> Result<Tensor> {
        crate::max_pool1d(
            self.borrow(),
            &kernel_size.into_sizes(),
            options.stride.as_slice(),
            options.padding.or_zeros(),
            options.dilation.or_ones(),
            options.ceil_mode,
        )
    }

    /// Returns the mean of each window of sequences. The windows do not overlap.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((1, 1, 4), ())?.avg_pool1d(2)?.sizes(), [1, 1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "pooling")]
    fn avg_pool1d(&self, kernel_size: impl IntoSizes) -> Result<Tensor> {
        self.avg_pool1d_with(kernel_size, AvgPoolOptions::default())
    }

    /// Returns the mean of each window of sequences, with options. Candle: `avg_pool1d_with_stride`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::AvgPoolOptions;
    /// let options = AvgPoolOptions { padding: 1.into(), ..AvgPoolOptions::default() };
    /// assert_eq!(Tensor::ones((1, 1, 4), ())?.avg_pool1d_with(2, options)?.sizes(), [1, 1, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "pooling")]
    fn avg_pool1d_with(&self, kernel_size: impl IntoSizes, options: AvgPoolOptions) -> Result<Tensor> {
        if let Some(divisor) = options.divisor {
            return Err(BadArgument::value("divisor", divisor, "none, as pooling of sequences has no divisor").into());
        }
        crate::avg_pool1d(
            self.borrow(),
            &kernel_size.into_sizes(),
            options.stride.as_slice(),
            options.padding.or_zeros(),
            options.ceil_mode,
            options.count_include_pad,
        )
    }

    /// Returns the means of regions, so that the results have the given sizes.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((1, 1, 4), ())?.adaptive_avg_pool1d(1)?.sizes(), [1, 1, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "pooling")]
    fn adaptive_avg_pool1d(&self, sizes: impl IntoSizes) -> Result<Tensor> {
        crate::adaptive_avg_pool1d(self.borrow(), &super::for_each_dim(&sizes.into_sizes(), 1))
    }

    /// Returns the largest elements of regions, so that the results have the given sizes.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((1, 1, 4), ())?.adaptive_max_pool1d(1)?.sizes(), [1, 1, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "pooling")]
    fn adaptive_max_pool1d(&self, sizes: impl IntoSizes) -> Result<Tensor> {
        Ok(crate::adaptive_max_pool1d(self.borrow(), &super::for_each_dim(&sizes.into_sizes(), 1))?.0)
    }

    /// Returns the largest element of each window of images. The windows do not overlap.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((1, 1, 4, 4), ())?.max_pool2d(2)?.sizes(), [1, 1, 2, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "pooling")]
    fn max_pool2d(&self, kernel_size: impl IntoSizes) -> Result<Tensor> {
        self.max_pool2d_with(kernel_size, MaxPoolOptions::default())
    }

    /// Returns the largest element of each window of images, with options. Candle: `max_pool2d_with_stride`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::MaxPoolOptions;
    /// let options = MaxPoolOptions { stride: 1.into(), ..MaxPoolOptions::default() };
    /// assert_eq!(Tensor::ones((1, 1, 4, 4), ())?.max_pool2d_with(2, options)?.sizes(), [1, 1, 3, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "pooling")]
    fn max_pool2d_with(&self, kernel_size: impl IntoSizes, options: MaxPoolOptions) -> Result<Tensor> {
        crate::max_pool2d(
            self.borrow(),
            &kernel_size.into_sizes(),
            options.stride.as_slice(),
            options.padding.or_zeros(),
            options.dilation.or_ones(),
            options.ceil_mode,
        )
    }

    /// Returns the mean of each window of images. The windows do not overlap.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((1, 1, 4, 4), ())?.avg_pool2d(2)?.sizes(), [1, 1, 2, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "pooling")]
    fn avg_pool2d(&self, kernel_size: impl IntoSizes) -> Result<Tensor> {
        self.avg_pool2d_with(kernel_size, AvgPoolOptions::default())
    }

    /// Returns the mean of each window of images, with options. Candle: `avg_pool2d_with_stride`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::AvgPoolOptions;
    /// let options = AvgPoolOptions { padding: 1.into(), ..AvgPoolOptions::default() };
    /// assert_eq!(Tensor::ones((1, 1, 4, 4), ())?.avg_pool2d_with(2, options)?.sizes(), [1, 1, 3, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "pooling")]
    fn avg_pool2d_with(&self, kernel_size: impl IntoSizes, options: AvgPoolOptions) -> Result<Tensor> {
        crate::avg_pool2d(
            self.borrow(),
            &kernel_size.into_sizes(),
            options.stride.as_slice(),
            options.padding.or_zeros(),
            options.ceil_mode,
            options.count_include_pad,
            options.divisor,
        )
    }

    /// Returns the means of regions, so that the results have the given sizes.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((1, 1, 4, 4), ())?.adaptive_avg_pool2d(1)?.sizes(), [1, 1, 1, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "pooling")]
    fn adaptive_avg_pool2d(&self, sizes: impl IntoSizes) -> Result<Tensor> {
        crate::adaptive_avg_pool2d(self.borrow(), &super::for_each_dim(&sizes.into_sizes(), 2))
    }

    /// Returns the largest elements of regions, so that the results have the given sizes.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((1, 1, 4, 4), ())?.adaptive_max_pool2d(1)?.sizes(), [1, 1, 1, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "pooling")]
    fn adaptive_max_pool2d(&self, sizes: impl IntoSizes) -> Result<Tensor> {
        Ok(crate::adaptive_max_pool2d(self.borrow(), &super::for_each_dim(&sizes.into_sizes(), 2))?.0)
    }

    /// Returns the largest element of each window of volumes. The windows do not overlap.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((1, 1, 4, 4, 4), ())?.max_pool3d(2)?.sizes(), [1, 1, 2, 2, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "pooling")]
    fn max_pool3d(&self, kernel_size: impl IntoSizes) -> Result<Tensor> {
        self.max_pool3d_with(kernel_size, MaxPoolOptions::default())
    }

    /// Returns the largest element of each window of volumes, with options. Candle: `max_pool3d_with_stride`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::MaxPoolOptions;
    /// let options = MaxPoolOptions { stride: 1.into(), ..MaxPoolOptions::default() };
    /// assert_eq!(Tensor::ones((1, 1, 4, 4, 4), ())?.max_pool3d_with(2, options)?.sizes(), [1, 1, 3, 3, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "pooling")]
    fn max_pool3d_with(&self, kernel_size: impl IntoSizes, options: MaxPoolOptions) -> Result<Tensor> {
        crate::max_pool3d(
            self.borrow(),
            &kernel_size.into_sizes(),
            options.stride.as_slice(),
            options.padding.or_zeros(),
            options.dilation.or_ones(),
            options.ceil_mode,
        )
    }

    /// Returns the mean of each window of volumes. The windows do not overlap.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((1, 1, 4, 4, 4), ())?.avg_pool3d(2)?.sizes(), [1, 1, 2, 2, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "pooling")]
    fn avg_pool3d(&self, kernel_size: impl IntoSizes) -> Result<Tensor> {
        self.avg_pool3d_with(kernel_size, AvgPoolOptions::default())
    }

    /// Returns the mean of each window of volumes, with options. Candle: `avg_pool3d_with_stride`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::AvgPoolOptions;
    /// let options = AvgPoolOptions { padding: 1.into(), ..AvgPoolOptions::default() };
    /// assert_eq!(Tensor::ones((1, 1, 4, 4, 4), ())?.avg_pool3d_with(2, options)?.sizes(), [1, 1, 3, 3, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "pooling")]
    fn avg_pool3d_with(&self, kernel_size: impl IntoSizes, options: AvgPoolOptions) -> Result<Tensor> {
        crate::avg_pool3d(
            self.borrow(),
            &kernel_size.into_sizes(),
            options.stride.as_slice(),
            options.padding.or_zeros(),
            options.ceil_mode,
            options.count_include_pad,
            options.divisor,
        )
    }

    /// Returns the means of regions, so that the results have the given sizes.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((1, 1, 4, 4, 4), ())?.adaptive_avg_pool3d(1)?.sizes(), [1, 1, 1, 1, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "pooling")]
    fn adaptive_avg_pool3d(&self, sizes: impl IntoSizes) -> Result<Tensor> {
        crate::adaptive_avg_pool3d(self.borrow(), &super::for_each_dim(&sizes.into_sizes(), 3))
    }

    /// Returns the largest elements of regions, so that the results have the given sizes.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((1, 1, 4, 4, 4), ())?.adaptive_max_pool3d(1)?.sizes(), [1, 1, 1, 1, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "pooling")]
    fn adaptive_max_pool3d(&self, sizes: impl IntoSizes) -> Result<Tensor> {
        Ok(crate::adaptive_max_pool3d(self.borrow(), &super::for_each_dim(&sizes.into_sizes(), 3))?.0)
    }
}

impl PoolingMethods for Tensor {}
