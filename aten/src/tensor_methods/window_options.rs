//! The options of convolutions, pooling and sampling of images.

#[cfg(feature = "conv")]
use dispatch_runtime::Tensor;

use crate::IntList;
#[cfg(feature = "conv")]
use crate::Padding;

/// The options of convolutions. A list with one number counts for all dimensions.
///
/// ```
/// assert_eq!(aten::ConvOptions::default().groups, 1);
/// ```
#[cfg(feature = "conv")]
#[derive(Clone, Debug)]
pub struct ConvOptions<'a> {
    /// A number for each channel of the result, which is added.
    pub bias: Option<&'a Tensor>,
    /// The distances between windows. The default is 1.
    pub stride: IntList,
    /// The zeros around the input. The default is none.
    pub padding: Padding,
    /// The distances between the elements of a window. The default is 1.
    pub dilation: IntList,
    /// The number of groups of channels, each of which is convolved alone. The default is 1.
    pub groups: i64,
}

#[cfg(feature = "conv")]
impl Default for ConvOptions<'_> {
    fn default() -> Self {
        Self {
            bias: None,
            stride: IntList::default(),
            padding: Padding::default(),
            dilation: IntList::default(),
            groups: 1,
        }
    }
}

#[cfg(feature = "conv")]
impl ConvOptions<'_> {
    /// Returns the arguments of the operators, without the padding.
    pub(super) fn arguments(&self) -> (Option<&Tensor>, &[i64], &[i64], i64) {
        (self.bias, self.stride.or_ones(), self.dilation.or_ones(), self.groups)
    }
}

/// The options of transposed convolutions. A list with one number counts for all dimensions.
///
/// ```
/// assert!(aten::ConvTransposeOptions::default().stride.is_empty());
/// ```
#[cfg(feature = "conv")]
#[derive(Clone, Debug)]
pub struct ConvTransposeOptions<'a> {
    /// A number for each channel of the result, which is added.
    pub bias: Option<&'a Tensor>,
    /// The distances between windows in the result. The default is 1.
    pub stride: IntList,
    /// The elements that are removed around the result. The default is 0.
    pub padding: IntList,
    /// The elements that are added at the ends of the result. The default is 0.
    pub output_padding: IntList,
    /// The number of groups of channels. The default is 1.
    pub groups: i64,
    /// The distances between the elements of a window. The default is 1.
    pub dilation: IntList,
}

#[cfg(feature = "conv")]
impl Default for ConvTransposeOptions<'_> {
    fn default() -> Self {
        Self {
            bias: None,
            stride: IntList::default(),
            padding: IntList::default(),
            output_padding: IntList::default(),
            groups: 1,
            dilation: IntList::default(),
        }
    }
}

/// The options of maximum pooling. A list with one number counts for all dimensions.
///
/// ```
/// assert!(!aten::MaxPoolOptions::default().ceil_mode);
/// ```
#[cfg(feature = "pooling")]
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MaxPoolOptions {
    /// The distances between windows. The default is the size of a window.
    pub stride: IntList,
    /// The elements around the input, which are never the maximum. The default is 0.
    pub padding: IntList,
    /// The distances between the elements of a window. The default is 1.
    pub dilation: IntList,
    /// Whether windows that reach beyond the end count.
    pub ceil_mode: bool,
}

/// The options of average pooling. A list with one number counts for all dimensions.
///
/// ```
/// assert!(aten::AvgPoolOptions::default().count_include_pad);
/// ```
#[cfg(feature = "pooling")]
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AvgPoolOptions {
    /// The distances between windows. The default is the size of a window.
    pub stride: IntList,
    /// The zeros around the input. The default is 0.
    pub padding: IntList,
    /// Whether windows that reach beyond the end count.
    pub ceil_mode: bool,
    /// Whether the zeros around the input count in means, which is the default.
    pub count_include_pad: bool,
    /// The divisor, in place of the size of a window. Pooling of sequences refuses one.
    pub divisor: Option<i64>,
}

#[cfg(feature = "pooling")]
impl Default for AvgPoolOptions {
    fn default() -> Self {
        Self {
            stride: IntList::default(),
            padding: IntList::default(),
            ceil_mode: false,
            count_include_pad: true,
            divisor: None,
        }
    }
}

/// The options of [`ConvolutionMethods::grid_sample`](super::ConvolutionMethods::grid_sample).
///
/// ```
/// assert!(!aten::GridSampleOptions::default().align_corners);
/// ```
#[cfg(feature = "resize")]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GridSampleOptions {
    /// The interpolation between elements. The default is linear.
    pub interpolation: crate::Interpolation,
    /// The values of positions outside of the image. The default is zeros.
    pub padding_mode: crate::PaddingMode,
    /// Whether -1 and 1 are the centers of the outermost elements, instead of their outer edges.
    pub align_corners: bool,
}
