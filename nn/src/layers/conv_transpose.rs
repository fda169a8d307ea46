//! Transposed convolutions.

use aten::IntList;
use dispatch_runtime::{BadArgument, Expected, IntoInt, IntoSizes, Result, Tensor};

use super::conv::{checked_groups, initial_parameters};
use super::per_dimension::{per_dimension, per_dimension_or};
use crate::forward::Forward;
use crate::param::Param;
use crate::summary::observe;

/// The options of [`ConvTranspose1d`], [`ConvTranspose2d`] and [`ConvTranspose3d`]. A list with one number counts for all dimensions.
///
/// ```
/// assert!(dispatch_nn::ConvTransposeOptions::default().bias);
/// ```
#[derive(Clone, Debug)]
pub struct ConvTransposeOptions {
    /// The distances between windows in the output. The default is 1.
    pub stride: IntList,
    /// The elements that are removed around the output. The default is 0.
    pub padding: IntList,
    /// The elements that are added at the ends of the output. The default is 0.
    pub output_padding: IntList,
    /// The number of groups of channels. The default is 1.
    pub groups: i64,
    /// Whether the layer has a bias, which is the default.
    pub bias: bool,
    /// The distances between the elements of a window. The default is 1.
    pub dilation: IntList,
}

impl Default for ConvTransposeOptions {
    fn default() -> Self {
        Self {
            stride: IntList::default(),
            padding: IntList::default(),
            output_padding: IntList::default(),
            groups: 1,
            bias: true,
            dilation: IntList::default(),
        }
    }
}

macro_rules! define_transposed_convolutions {
    ($($(#[$doc:meta])* $name:ident $rank:literal $convolve:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, crate::Module)]
        pub struct $name {
            /// The filters, of sizes `[in_channels, out_channels / groups, kernel_size..]`.
            pub weight: Param,
            /// A number for each channel of the output, which is added.
            pub bias: Option<Param>,
            #[module(skip)]
            window: TransposedWindow<$rank>,
        }

        impl $name {
            /// Creates a layer with stride 1, without padding, and with a bias. Weight and bias are uniform in `±1/sqrt(n)`, for the
            /// number `n` of weights of an input channel.
            ///
            /// # Errors
            ///
            /// Returns [`BadArgument`] for numbers that do not fit together.
            pub fn new(
                in_channels: impl IntoInt,
                out_channels: impl IntoInt,
                kernel_size: impl IntoSizes,
            ) -> Result<Self> {
                Self::with(in_channels, out_channels, kernel_size, ConvTransposeOptions::default())
            }

            /// Creates a layer with options.
            ///
            /// # Errors
            ///
            /// Returns [`BadArgument`] for numbers that do not fit together: the groups do not divide the channels, for example.
            pub fn with(
                in_channels: impl IntoInt,
                out_channels: impl IntoInt,
                kernel_size: impl IntoSizes,
                options: ConvTransposeOptions,
            ) -> Result<Self> {
                let channels = [in_channels.into_int(), out_channels.into_int()];
                let window = TransposedWindow::new(channels, &kernel_size.into_sizes(), &options)?;
                let (weight, bias) = initial_parameters(&window.weight_sizes(channels), channels[1], options.bias)?;
                Ok(Self { weight, bias, window })
            }

            /// Computes an output of the given sizes, without items and channels. With a stride, several sizes are possible.
            ///
            /// # Errors
            ///
            /// Returns [`BadArgument`] for sizes that no input of this size can have.
            pub fn forward_with_output_size(&self, x: &Tensor, output_size: impl IntoSizes) -> Result<Tensor> {
                let sizes = per_dimension("output_size", &output_size.into_sizes(), 0)?;
                self.convolve(x, &self.window.output_padding_for(x.sizes(), sizes)?)
            }

            fn convolve(&self, x: &Tensor, output_padding: &[i64]) -> Result<Tensor> {
                let TransposedWindow { stride, padding, groups, dilation, .. } = &self.window;
                let (weight, bias) = (&self.weight, self.bias.as_deref());
                observe(self, aten::$convolve(x, weight, bias, stride, padding, output_padding, *groups, dilation))
            }
        }

        impl Forward for $name {
            type Output = Tensor;

            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                self.convolve(x, &self.window.output_padding)
            }
        }
    )*};
}

define_transposed_convolutions! {
    /// A transposed convolution of sequences: it maps sizes as the gradient of [`Conv1d`](crate::Conv1d) does.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{ConvTranspose1d, Forward};
    /// use dispatch_runtime::Tensor;
    ///
    /// let layer = ConvTranspose1d::new(4, 2, 3)?;
    /// assert_eq!(layer.forward(&Tensor::zeros((1, 4, 8), ())?)?.sizes(), [1, 2, 10]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    ConvTranspose1d 1 conv_transpose1d;

    /// A transposed convolution of images: it maps sizes as the gradient of [`Conv2d`](crate::Conv2d) does.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{ConvTranspose2d, ConvTransposeOptions, Forward};
    /// use dispatch_runtime::Tensor;
    ///
    /// let options = ConvTransposeOptions { stride: 2.into(), padding: 1.into(), ..ConvTransposeOptions::default() };
    /// let layer = ConvTranspose2d::with(8, 3, 3, options)?;
    /// let x = Tensor::zeros((1, 8, 16, 16), ())?;
    /// assert_eq!(layer.forward(&x)?.sizes(), [1, 3, 31, 31]);
    /// assert_eq!(layer.forward_with_output_size(&x, 32)?.sizes(), [1, 3, 32, 32]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    ConvTranspose2d 2 conv_transpose2d_input;

    /// A transposed convolution of volumes: it maps sizes as the gradient of [`Conv3d`](crate::Conv3d) does.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{ConvTranspose3d, Forward};
    /// use dispatch_runtime::Tensor;
    ///
    /// let layer = ConvTranspose3d::new(2, 1, (1, 3, 3))?;
    /// assert_eq!(layer.forward(&Tensor::zeros((1, 2, 4, 6, 6), ())?)?.sizes(), [1, 1, 4, 8, 8]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    ConvTranspose3d 3 conv_transpose3d_input;
}

/// The windows of a transposed convolution of `N` dimensions.
#[derive(Clone, Debug)]
struct TransposedWindow<const N: usize> {
    kernel: [i64; N],
    stride: [i64; N],
    padding: [i64; N],
    output_padding: [i64; N],
    groups: i64,
    dilation: [i64; N],
}

impl<const N: usize> TransposedWindow<N> {
    fn new(channels: [i64; 2], kernel: &[i64], options: &ConvTransposeOptions) -> Result<Self> {
        let window = Self {
            kernel: per_dimension("kernel_size", kernel, 1)?,
            stride: per_dimension_or("stride", &options.stride, 1, [1; N])?,
            padding: per_dimension_or("padding", &options.padding, 0, [0; N])?,
            output_padding: per_dimension_or("output_padding", &options.output_padding, 0, [0; N])?,
            groups: checked_groups(channels, options.groups)?,
            dilation: per_dimension_or("dilation", &options.dilation, 1, [1; N])?,
        };
        for ((added, stride), dilation) in window.output_padding.iter().zip(window.stride).zip(window.dilation) {
            let limit = stride.max(dilation);
            if *added >= limit {
                return Err(BadArgument::number("output_padding", *added, Expected::Below(limit.into()))
                    .because("this is the stride or the dilation")
                    .into());
            }
        }
        Ok(window)
    }

    fn weight_sizes(&self, [inputs, outputs]: [i64; 2]) -> Vec<i64> {
        [inputs, outputs / self.groups].into_iter().chain(self.kernel).collect()
    }

    /// Returns the output padding that gives an output of these sizes.
    fn output_padding_for(&self, input: &[i64], output: [i64; N]) -> Result<[i64; N]> {
        let inner = match input.len().checked_sub(N) {
            Some(outer @ 1..=2) => &input[outer..],
            _ => return Err(BadArgument::rank("input", input.len(), N + 1..=N + 2).into()),
        };
        let mut output_padding = [0; N];
        for (dim, added) in output_padding.iter_mut().enumerate() {
            let window = self.dilation[dim].saturating_mul(self.kernel[dim] - 1).saturating_add(1);
            let smallest = (inner[dim] - 1)
                .saturating_mul(self.stride[dim])
                .saturating_add(window)
                .saturating_sub(self.padding[dim].saturating_mul(2));
            let possible = smallest..=smallest.saturating_add(self.stride[dim] - 1);
            if !possible.contains(&output[dim]) {
                return Err(BadArgument::size("output_size", &output, dim, possible)
                    .because("other sizes have no input of this size")
                    .into());
            }
            *added = output[dim] - smallest;
        }
        Ok(output_padding)
    }
}
