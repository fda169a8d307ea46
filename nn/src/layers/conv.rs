//! Convolutions.

use aten::prelude::*;
use aten::{IntList, PadMode, Padding};
use dispatch_runtime::{BadArgument, Expected, IntoInt, IntoSizes, Result, Tensor};

use super::checks::check_positive;
use super::linear::uniform_for_inputs;
use super::per_dimension::{per_dimension, per_dimension_or};
use crate::forward::Forward;
use crate::param::Param;
use crate::summary::observe;

/// The options of [`Conv1d`], [`Conv2d`] and [`Conv3d`]. A list with one number counts for all dimensions.
///
/// ```
/// use dispatch_nn::{Conv2d, ConvOptions};
/// # use kernels_cpu as _;
/// let layer = Conv2d::with(3, 8, 3, ConvOptions { stride: 2.into(), padding: 1.into(), ..ConvOptions::default() })?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ConvOptions {
    /// The distances between windows. The default is 1.
    pub stride: IntList,
    /// The elements around the input. The default is none.
    pub padding: Padding,
    /// The distances between the elements of a window. The default is 1.
    pub dilation: IntList,
    /// The number of groups of channels, each of which is convolved alone. The default is 1.
    pub groups: i64,
    /// Whether the layer has a bias, which is the default.
    pub bias: bool,
    /// The values of the elements around the input. The default, `Constant`, is zeros.
    pub padding_mode: PadMode,
}

impl Default for ConvOptions {
    fn default() -> Self {
        Self {
            stride: IntList::default(),
            padding: Padding::default(),
            dilation: IntList::default(),
            groups: 1,
            bias: true,
            padding_mode: PadMode::default(),
        }
    }
}

macro_rules! define_convolutions {
    ($($(#[$doc:meta])* $name:ident $rank:literal $convolve:ident $convolve_same:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, crate::Module)]
        pub struct $name {
            /// The filters, of sizes `[out_channels, in_channels / groups, kernel_size..]`.
            pub weight: Param,
            /// A number for each channel of the output, which is added.
            pub bias: Option<Param>,
            #[module(skip)]
            window: Window<$rank>,
        }

        impl $name {
            /// Creates a layer with stride 1, without padding, and with a bias. Weight and bias are uniform in `±1/sqrt(n)`, for the
            /// number `n` of weights of an output channel.
            ///
            /// # Errors
            ///
            /// Returns [`BadArgument`] for numbers that do not fit together.
            pub fn new(
                in_channels: impl IntoInt,
                out_channels: impl IntoInt,
                kernel_size: impl IntoSizes,
            ) -> Result<Self> {
                Self::with(in_channels, out_channels, kernel_size, ConvOptions::default())
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
                options: ConvOptions,
            ) -> Result<Self> {
                let channels = [in_channels.into_int(), out_channels.into_int()];
                let (window, sizes) = Window::new(channels, &kernel_size.into_sizes(), &options)?;
                let (weight, bias) = initial_parameters(&sizes, channels[1], options.bias)?;
                Ok(Self { weight, bias, window })
            }
        }

        impl Forward for $name {
            type Output = Tensor;

            fn forward(&self, x: &Tensor) -> Result<Tensor> {
                let (weight, bias) = (&self.weight, self.bias.as_deref());
                let Window { stride, dilation, groups, padding } = &self.window;
                let result = match padding {
                    WindowPadding::Zeros(zeros) => aten::$convolve(x, weight, bias, stride, zeros, dilation, *groups),
                    WindowPadding::Same => aten::$convolve_same(x, weight, bias, stride, "same", dilation, *groups),
                    WindowPadding::Border(border, mode) => {
                        aten::$convolve(&x.pad_with(border, *mode)?, weight, bias, stride, &[0], dilation, *groups)
                    }
                };
                observe(self, result)
            }
        }
    )*};
}

define_convolutions! {
    /// A convolution of sequences: `[items, channels, length]`, or `[channels, length]`.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Conv1d, ConvOptions, Forward, Padding};
    /// use dispatch_runtime::Tensor;
    ///
    /// let layer = Conv1d::with(2, 4, 3, ConvOptions { padding: Padding::Same, ..ConvOptions::default() })?;
    /// assert_eq!(layer.forward(&Tensor::zeros((1, 2, 10), ())?)?.sizes(), [1, 4, 10]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    Conv1d 1 conv1d conv1d_padding;

    /// A convolution of images: `[items, channels, height, width]`, or `[channels, height, width]`.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Conv2d, ConvOptions, Forward};
    /// use dispatch_runtime::Tensor;
    ///
    /// let image = Tensor::zeros((1, 3, 32, 32), ())?;
    /// assert_eq!(Conv2d::new(3, 8, 5)?.forward(&image)?.sizes(), [1, 8, 28, 28]);
    /// let halves = Conv2d::with(3, 8, 3, ConvOptions { stride: 2.into(), padding: 1.into(), ..ConvOptions::default() })?;
    /// assert_eq!(halves.forward(&image)?.sizes(), [1, 8, 16, 16]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    Conv2d 2 conv2d conv2d_padding;

    /// A convolution of volumes: `[items, channels, depth, height, width]`, or `[channels, depth, height, width]`.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Conv3d, Forward};
    /// use dispatch_runtime::Tensor;
    ///
    /// let layer = Conv3d::new(1, 2, (1, 3, 3))?;
    /// assert_eq!(layer.forward(&Tensor::zeros((1, 1, 4, 8, 8), ())?)?.sizes(), [1, 2, 4, 6, 6]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    Conv3d 3 conv3d conv3d_padding;
}

/// The windows of a convolution of `N` dimensions.
#[derive(Clone, Debug)]
struct Window<const N: usize> {
    stride: [i64; N],
    dilation: [i64; N],
    groups: i64,
    padding: WindowPadding<N>,
}

#[derive(Clone, Debug)]
enum WindowPadding<const N: usize> {
    Zeros([i64; N]),
    Same,
    /// The numbers of elements at the start and at the end of each dimension, the last dimension first, and the way to fill them.
    Border(Vec<i64>, PadMode),
}

impl<const N: usize> Window<N> {
    /// Checks the options, and returns also the sizes of the weight.
    fn new([inputs, outputs]: [i64; 2], kernel: &[i64], options: &ConvOptions) -> Result<(Self, Vec<i64>)> {
        let groups = checked_groups([inputs, outputs], options.groups)?;
        let kernel: [i64; N] = per_dimension("kernel_size", kernel, 1)?;
        let stride = per_dimension_or("stride", &options.stride, 1, [1; N])?;
        let dilation = per_dimension_or("dilation", &options.dilation, 1, [1; N])?;
        let same = options.padding == Padding::Same;
        if same && let Some(&stride) = stride.iter().find(|&&stride| stride != 1) {
            let reason = "the padding `same` needs an output as large as the input";
            return Err(BadArgument::number("stride", stride, Expected::Is(1.into())).because(reason).into());
        }
        let zeros = match &options.padding {
            Padding::Sizes(sizes) => per_dimension_or("padding", sizes, 0, [0; N])?,
            Padding::Valid | Padding::Same => [0; N],
        };
        let padding = match options.padding_mode {
            PadMode::Constant if same => WindowPadding::Same,
            PadMode::Constant => WindowPadding::Zeros(zeros),
            mode => {
                let sides = |dim: usize| {
                    let missing = dilation[dim].saturating_mul(kernel[dim] - 1);
                    if same { [missing / 2, missing - missing / 2] } else { [zeros[dim]; 2] }
                };
                WindowPadding::Border((0..N).rev().flat_map(sides).collect(), mode)
            }
        };
        let sizes = [outputs, inputs / groups].into_iter().chain(kernel).collect();
        Ok((Self { stride, dilation, groups, padding }, sizes))
    }
}

/// Returns the number of groups, if it divides the numbers of channels.
pub(super) fn checked_groups([inputs, outputs]: [i64; 2], groups: i64) -> Result<i64> {
    check_positive("groups", groups)?;
    for (argument, channels) in [("in_channels", inputs), ("out_channels", outputs)] {
        check_positive(argument, channels)?;
        if channels % groups != 0 {
            return Err(BadArgument::number(argument, channels, Expected::MultipleOf(groups.into()))
                .because("this is the number of groups")
                .into());
        }
    }
    Ok(groups)
}

/// Returns a weight of these sizes and a bias of `channels` numbers. Both are uniform in `±1/sqrt(n)`, for the number `n` of weights that
/// the second dimension and those after it have.
pub(super) fn initial_parameters(sizes: &[i64], channels: i64, bias: bool) -> Result<(Param, Option<Param>)> {
    let inputs = sizes.iter().skip(1).fold(1_i64, |count, &size| count.saturating_mul(size));
    let bias = if bias { Some(uniform_for_inputs(channels, inputs)?) } else { None };
    Ok((uniform_for_inputs(sizes, inputs)?, bias))
}
