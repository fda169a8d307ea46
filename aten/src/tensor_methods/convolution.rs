//! Convolutions, and the resizing of images.

use std::borrow::Borrow;

use dispatch_runtime::prelude::*;

#[cfg(feature = "resize")]
use crate::GridSampleOptions;
#[cfg(feature = "conv")]
use crate::{ConvOptions, ConvTransposeOptions};

/// Convolutions, and the resizing and sampling of images.
pub trait ConvolutionMethods: Borrow<Tensor> {
    /// Convolves sequences. The options have the bias, stride, padding, dilation and groups.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::{ConvOptions, Padding};
    /// let (x, weight) = (Tensor::ones((1, 1, 4), ())?, Tensor::ones((2, 1, 3), ())?);
    /// assert_eq!(x.conv1d(&weight, ConvOptions { padding: Padding::Same, ..ConvOptions::default() })?.sizes(), [1, 2, 4]);
    /// assert_eq!(x.conv1d(&weight, ConvOptions { stride: 2.into(), padding: 1.into(), ..ConvOptions::default() })?.sizes(), [1, 2, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "conv")]
    fn conv1d(&self, weight: &Tensor, options: ConvOptions<'_>) -> Result<Tensor> {
        let (bias, stride, dilation, groups) = options.arguments();
        match options.padding.as_word() {
            Some(word) => crate::conv1d_padding(self.borrow(), weight, bias, stride, word, dilation, groups),
            None => crate::conv1d(self.borrow(), weight, bias, stride, options.padding.as_slice(), dilation, groups),
        }
    }

    /// Convolves images. The options have the bias, stride, padding, dilation and groups.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::{ConvOptions, Padding};
    /// let (x, weight) = (Tensor::ones((1, 1, 4, 4), ())?, Tensor::ones((2, 1, 3, 3), ())?);
    /// assert_eq!(x.conv2d(&weight, ConvOptions { padding: Padding::Same, ..ConvOptions::default() })?.sizes(), [1, 2, 4, 4]);
    /// assert_eq!(x.conv2d(&weight, ConvOptions { stride: 2.into(), padding: 1.into(), ..ConvOptions::default() })?.sizes(), [1, 2, 2, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "conv")]
    fn conv2d(&self, weight: &Tensor, options: ConvOptions<'_>) -> Result<Tensor> {
        let (bias, stride, dilation, groups) = options.arguments();
        match options.padding.as_word() {
            Some(word) => crate::conv2d_padding(self.borrow(), weight, bias, stride, word, dilation, groups),
            None => crate::conv2d(self.borrow(), weight, bias, stride, options.padding.as_slice(), dilation, groups),
        }
    }

    /// Convolves volumes. The options have the bias, stride, padding, dilation and groups.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::{ConvOptions, Padding};
    /// let (x, weight) = (Tensor::ones((1, 1, 4, 4, 4), ())?, Tensor::ones((2, 1, 3, 3, 3), ())?);
    /// assert_eq!(x.conv3d(&weight, ConvOptions { padding: Padding::Same, ..ConvOptions::default() })?.sizes(), [1, 2, 4, 4, 4]);
    /// assert_eq!(x.conv3d(&weight, ConvOptions { stride: 2.into(), padding: 1.into(), ..ConvOptions::default() })?.sizes(), [1, 2, 2, 2, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "conv")]
    fn conv3d(&self, weight: &Tensor, options: ConvOptions<'_>) -> Result<Tensor> {
        let (bias, stride, dilation, groups) = options.arguments();
        match options.padding.as_word() {
            Some(word) => crate::conv3d_padding(self.borrow(), weight, bias, stride, word, dilation, groups),
            None => crate::conv3d(self.borrow(), weight, bias, stride, options.padding.as_slice(), dilation, groups),
        }
    }

    /// Computes the transposed convolution of sequences, as the gradient of a convolution does.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::ConvTransposeOptions;
    /// let (x, weight) = (Tensor::ones((1, 1, 2), ())?, Tensor::ones((1, 2, 3), ())?);
    /// assert_eq!(x.conv_transpose1d(&weight, ConvTransposeOptions { stride: 2.into(), ..ConvTransposeOptions::default() })?.sizes(), [1, 2, 5]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "conv")]
    fn conv_transpose1d(&self, weight: &Tensor, options: ConvTransposeOptions<'_>) -> Result<Tensor> {
        crate::conv_transpose1d(
            self.borrow(),
            weight,
            options.bias,
            options.stride.or_ones(),
            options.padding.or_zeros(),
            options.output_padding.or_zeros(),
            options.groups,
            options.dilation.or_ones(),
        )
    }

    /// Computes the transposed convolution of images, as the gradient of a convolution does.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::ConvTransposeOptions;
    /// let (x, weight) = (Tensor::ones((1, 1, 2, 2), ())?, Tensor::ones((1, 2, 3, 3), ())?);
    /// assert_eq!(x.conv_transpose2d(&weight, ConvTransposeOptions { stride: 2.into(), ..ConvTransposeOptions::default() })?.sizes(), [1, 2, 5, 5]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "conv")]
    fn conv_transpose2d(&self, weight: &Tensor, options: ConvTransposeOptions<'_>) -> Result<Tensor> {
        crate::conv_transpose2d_input(
            self.borrow(),
            weight,
            options.bias,
            options.stride.or_ones(),
            options.padding.or_zeros(),
            options.output_padding.or_zeros(),
            options.groups,
            options.dilation.or_ones(),
        )
    }

    /// Computes the transposed convolution of volumes, as the gradient of a convolution does.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::ConvTransposeOptions;
    /// let (x, weight) = (Tensor::ones((1, 1, 2, 2, 2), ())?, Tensor::ones((1, 2, 3, 3, 3), ())?);
    /// assert_eq!(x.conv_transpose3d(&weight, ConvTransposeOptions { stride: 2.into(), ..ConvTransposeOptions::default() })?.sizes(), [1, 2, 5, 5, 5]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "conv")]
    fn conv_transpose3d(&self, weight: &Tensor, options: ConvTransposeOptions<'_>) -> Result<Tensor> {
        crate::conv_transpose3d_input(
            self.borrow(),
            weight,
            options.bias,
            options.stride.or_ones(),
            options.padding.or_zeros(),
            options.output_padding.or_zeros(),
            options.groups,
            options.dilation.or_ones(),
        )
    }

    /// Resizes sequences, images or volumes. PyTorch: `F.interpolate`. Candle: `interpolate2d`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::functional::OutputSize;
    /// assert_eq!(Tensor::ones((1, 1, 2, 2), ())?.interpolate(OutputSize::Sizes(&[4]), "bilinear".parse()?)?.sizes(), [1, 1, 4, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "resize")]
    fn interpolate(
        &self,
        size: crate::functional::OutputSize<'_>,
        mode: crate::functional::InterpolationMode,
    ) -> Result<Tensor> {
        crate::functional::interpolate(self.borrow(), size, mode)
    }

    /// Samples images or volumes at the positions of a grid. PyTorch: `F.grid_sample`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::GridSampleOptions;
    /// let (image, grid) = (Tensor::ones((1, 1, 2, 2), ())?, Tensor::zeros((1, 3, 3, 2), ())?);
    /// assert_eq!(image.grid_sample(&grid, GridSampleOptions::default())?.sizes(), [1, 1, 3, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "resize")]
    fn grid_sample(&self, grid: &Tensor, options: GridSampleOptions) -> Result<Tensor> {
        crate::grid_sampler(
            self.borrow(),
            grid,
            options.interpolation.code(),
            options.padding_mode.code(),
            options.align_corners,
        )
    }
}

impl ConvolutionMethods for Tensor {}
