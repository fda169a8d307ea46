//! `ps_roi_align`: position-sensitive regions of images, interpolated to one size.

use dispatch_runtime::{BadArgument, Spec, prelude::*};

use super::region_sizes::{RegionArguments, RegionSizes, check_sampling_ratio};
use super::roi_pool::check_indices_of_result;

/// Position-sensitive region align: [`roi_align`](crate::roi_align) with half a pixel's shift, in which each bin reads its own channel of
/// the image.
///
/// `input` has `pooled_height` times `pooled_width` channels for each channel of the result. The second result has the number of the
/// channel of the image that each bin was computed from.
///
/// ```
/// use dispatch_vision::ps_roi_align;
/// use {aten::prelude::*, dispatch_runtime::prelude::*};
///
/// # fn main() -> Result<()> {
/// let image = Tensor::from([[[[1.0, 1.0], [1.0, 1.0]], [[5.0, 5.0], [5.0, 5.0]]]]);
/// let (means, channels) = ps_roi_align(&image, &Tensor::from([[0.0, 0.0, 0.0, 2.0, 2.0]]), 1.0, 2, 1, 2)?;
/// assert_eq!((means.sizes(), means.to_vec::<f64>()?), (&[1, 1, 2, 1][..], vec![1.0, 5.0]));
/// assert_eq!(channels.to_vec::<i32>()?, [0, 1]);
/// # Ok(())
/// # }
/// ```
#[op_def(
    "torchvision::ps_roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio) -> (Tensor, Tensor)",
    plan
)]
pub fn ps_roi_align(_: ...) -> Result<(Tensor, Tensor)>;

#[op_plan(ps_roi_align)]
fn ps_roi_align_plan(
    input: &Tensor,
    rois: &Tensor,
    pooled_height: i64,
    pooled_width: i64,
    sampling_ratio: i64,
) -> Result<Plan<RegionSizes, 2>, BadArgument> {
    let (sizes, count) = RegionArguments { rois, pooled_height, pooled_width }.check_images(input)?;
    check_sampling_ratio(sampling_ratio)?;
    let result_sizes = [count, sizes.channels_for_each_bin(Some(input))?, pooled_height, pooled_width];
    Ok(Plan::new(sizes, [input.dtype(), DType::I32].map(|dtype| Spec::contiguous(dtype, &result_sizes))))
}

/// The gradient of [`ps_roi_align`] for its images, which have the sizes `[batch_size, channels, height, width]`.
///
/// ```
/// use dispatch_vision::_ps_roi_align_backward;
/// use {aten::prelude::*, dispatch_runtime::prelude::*};
///
/// # fn main() -> Result<()> {
/// let (grad, region) = (Tensor::from([[[[1.0]]]]), Tensor::from([[0.0, 0.0, 0.0, 2.0, 2.0]]));
/// let of_image = _ps_roi_align_backward(&grad, &region, &Tensor::from([[[[0]]]]), 1.0, 1, 1, 2, 1, 1, 2, 2)?;
/// assert_eq!(of_image.to_vec::<f64>()?, [0.25; 4]);
/// # Ok(())
/// # }
/// ```
#[op_def(
    "torchvision::_ps_roi_align_backward(Tensor grad, Tensor rois, Tensor channel_mapping, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio, SymInt batch_size, SymInt channels, SymInt height, SymInt width) -> Tensor",
    plan
)]
pub fn _ps_roi_align_backward(_: ...) -> Result<Tensor>;

#[op_plan(_ps_roi_align_backward)]
fn ps_roi_align_backward_plan(
    grad: &Tensor,
    rois: &Tensor,
    channel_mapping: &Tensor,
    pooled_height: i64,
    pooled_width: i64,
    sampling_ratio: i64,
    batch_size: i64,
    channels: i64,
    height: i64,
    width: i64,
) -> Result<Plan<RegionSizes>, BadArgument> {
    let image_sizes = [batch_size, channels, height, width];
    let arguments = RegionArguments { rois, pooled_height, pooled_width };
    let sizes = arguments.check_gradient(grad, image_sizes, |sizes| sizes.channels_for_each_bin(None))?;
    check_indices_of_result("channel_mapping", channel_mapping, grad)?;
    check_sampling_ratio(sampling_ratio)?;
    Ok(Plan::new(sizes, [Spec::contiguous(grad.dtype(), &image_sizes)]))
}
