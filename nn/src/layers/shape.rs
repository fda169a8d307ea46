//! Layers that change the shape of a tensor.

use aten::IntList;
use aten::prelude::*;
use dispatch_runtime::{BadArgument, IntoInt, IntoSizes, Result};

use super::define_layers::{define_layers, impl_forward};
use super::per_dimension::{per_dimension, per_dimension_or};

/// The input itself. It takes the place of a layer that a model leaves out.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::{Forward, Identity};
/// use dispatch_runtime::Tensor;
/// assert_eq!(Identity.forward(&Tensor::from([1.0, 2.0]))?.to_vec::<f64>()?, [1.0, 2.0]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, crate::Module)]
pub struct Identity;

define_layers! {
    /// Joins dimensions to one. By default, these are all dimensions after the first, which is that of the items.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Flatten, Forward};
    /// use dispatch_runtime::Tensor;
    ///
    /// assert_eq!(Flatten::new().forward(&Tensor::zeros((2, 3, 4), ())?)?.sizes(), [2, 12]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    Flatten {
        /// The first dimension. The default is 1.
        start_dim: i64 = 1,
        /// The last dimension. The default is -1.
        end_dim: i64 = -1,
    }
}

/// Splits a dimension into several.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::{Forward, Unflatten};
/// use dispatch_runtime::Tensor;
///
/// assert_eq!(Unflatten::new(1, (3, 4)).forward(&Tensor::zeros((2, 12), ())?)?.sizes(), [2, 3, 4]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug, crate::Module)]
pub struct Unflatten {
    dim: i64,
    #[module(skip)]
    unflattened_size: IntList,
}

impl Unflatten {
    /// Creates the layer. One of the sizes may be -1: it follows from the others.
    #[must_use]
    pub fn new(dim: impl IntoInt, unflattened_size: impl IntoSizes) -> Self {
        Self { dim: dim.into_int(), unflattened_size: unflattened_size.into() }
    }
}

macro_rules! define_shuffles {
    ($($(#[$doc:meta])* $name:ident $number:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, crate::Module)]
        pub struct $name {
            $number: i64,
        }

        impl $name {
            /// Creates the layer.
            ///
            /// # Errors
            ///
            /// Returns [`BadArgument`] if the number is not positive.
            pub fn new($number: impl IntoInt) -> Result<Self> {
                match $number.into_int() {
                    $number @ 1.. => Ok(Self { $number }),
                    wrong => Err(BadArgument::number(stringify!($number), wrong, 1..).into()),
                }
            }
        }
    )*};
}

define_shuffles! {
    /// Moves channels into pixels: `[.., channels * r * r, height, width]` becomes `[.., channels, height * r, width * r]`.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, PixelShuffle};
    /// use dispatch_runtime::Tensor;
    ///
    /// assert_eq!(PixelShuffle::new(2)?.forward(&Tensor::zeros((1, 8, 3, 3), ())?)?.sizes(), [1, 2, 6, 6]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    PixelShuffle upscale_factor;

    /// Moves pixels into channels, as the inverse of [`PixelShuffle`].
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{Forward, PixelUnshuffle};
    /// use dispatch_runtime::Tensor;
    ///
    /// assert_eq!(PixelUnshuffle::new(2)?.forward(&Tensor::zeros((1, 2, 6, 6), ())?)?.sizes(), [1, 8, 3, 3]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    PixelUnshuffle downscale_factor;

    /// Mixes groups of channels: the first channels of all groups come first, then the second ones.
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::{ChannelShuffle, Forward};
    /// use dispatch_runtime::Tensor;
    ///
    /// let x = Tensor::from([0.0, 1.0, 2.0, 3.0]).reshape((1, 4, 1))?;
    /// assert_eq!(ChannelShuffle::new(2)?.forward(&x)?.to_vec::<f64>()?, [0.0, 2.0, 1.0, 3.0]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    ChannelShuffle groups;
}

/// The options of [`Unfold`] and [`Fold`]. A list with one number counts for both dimensions.
///
/// ```
/// assert!(dispatch_nn::FoldOptions::default().stride.is_empty());
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FoldOptions {
    /// The distances between the elements of a window. The default is 1.
    pub dilation: IntList,
    /// The zeros around the image. The default is 0.
    pub padding: IntList,
    /// The distances between windows. The default is 1.
    pub stride: IntList,
}

/// The windows of an image of two dimensions.
#[derive(Clone, Debug)]
struct Windows {
    kernel_size: [i64; 2],
    dilation: [i64; 2],
    padding: [i64; 2],
    stride: [i64; 2],
}

impl Windows {
    fn new(kernel_size: impl IntoSizes, options: &FoldOptions) -> Result<Self> {
        Ok(Self {
            kernel_size: per_dimension("kernel_size", &kernel_size.into_sizes(), 1)?,
            dilation: per_dimension_or("dilation", &options.dilation, 1, [1; 2])?,
            padding: per_dimension_or("padding", &options.padding, 0, [0; 2])?,
            stride: per_dimension_or("stride", &options.stride, 1, [1; 2])?,
        })
    }
}

/// The windows of images as columns: `[items, channels, height, width]` becomes `[items, channels * window, windows]`.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::{Forward, Unfold};
/// use dispatch_runtime::Tensor;
///
/// assert_eq!(Unfold::new(2)?.forward(&Tensor::zeros((1, 3, 4, 4), ())?)?.sizes(), [1, 12, 9]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug, crate::Module)]
pub struct Unfold {
    #[module(skip)]
    windows: Windows,
}

impl Unfold {
    /// Creates a layer with stride 1, without padding.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] for a size of the kernel below 1.
    pub fn new(kernel_size: impl IntoSizes) -> Result<Self> {
        Self::with(kernel_size, FoldOptions::default())
    }

    /// Creates a layer with options.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] for numbers out of range.
    #[expect(clippy::needless_pass_by_value, reason = "options are written where they are used")]
    pub fn with(kernel_size: impl IntoSizes, options: FoldOptions) -> Result<Self> {
        Ok(Self { windows: Windows::new(kernel_size, &options)? })
    }
}

/// Adds windows to images: the columns of [`Unfold`] become an image, with sums at elements of several windows.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::{Fold, Forward};
/// use dispatch_runtime::Tensor;
///
/// assert_eq!(Fold::new(4, 2)?.forward(&Tensor::zeros((1, 12, 9), ())?)?.sizes(), [1, 3, 4, 4]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug, crate::Module)]
pub struct Fold {
    output_size: [i64; 2],
    #[module(skip)]
    windows: Windows,
}

impl Fold {
    /// Creates a layer with stride 1, without padding.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] for a size below 1.
    pub fn new(output_size: impl IntoSizes, kernel_size: impl IntoSizes) -> Result<Self> {
        Self::with(output_size, kernel_size, FoldOptions::default())
    }

    /// Creates a layer with options.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] for numbers out of range.
    #[expect(clippy::needless_pass_by_value, reason = "options are written where they are used")]
    pub fn with(output_size: impl IntoSizes, kernel_size: impl IntoSizes, options: FoldOptions) -> Result<Self> {
        let output_size = per_dimension("output_size", &output_size.into_sizes(), 1)?;
        Ok(Self { output_size, windows: Windows::new(kernel_size, &options)? })
    }
}

impl_forward! {
    Identity(_, x) => Ok(x.clone());
    Flatten(layer, x) => x.flatten_dims(layer.start_dim, layer.end_dim);
    Unflatten(layer, x) => x.unflatten(layer.dim, layer.unflattened_size.as_slice());
    PixelShuffle(layer, x) => x.pixel_shuffle(layer.upscale_factor);
    PixelUnshuffle(layer, x) => x.pixel_unshuffle(layer.downscale_factor);
    ChannelShuffle(layer, x) => x.channel_shuffle(layer.groups);
    Unfold(layer, x) => {
        let Windows { kernel_size, dilation, padding, stride } = &layer.windows;
        aten::functional::unfold(x, kernel_size, dilation, padding, stride)
    };
    Fold(layer, x) => {
        let Windows { kernel_size, dilation, padding, stride } = &layer.windows;
        aten::functional::fold(x, &layer.output_size, kernel_size, dilation, padding, stride)
    };
}
