//! `roi_align`: regions of images, interpolated to one size.

use dispatch_runtime::{BadArgument, Spec, prelude::*};

use super::region_sizes::{RegionArguments, RegionSizes, check_sampling_ratio};

/// Region align: divides each region of an image into `pooled_height` times `pooled_width` bins, and computes the mean of each bin from
/// interpolated samples.
///
/// A row of `rois` is a region: the number of its image, then its left, upper, right and lower edge. The edges are multiplied by
/// `spatial_scale`, the size of a pixel of `input` being 1. A bin has `sampling_ratio` times `sampling_ratio` samples, or about one for
/// each pixel if `sampling_ratio` is 0 or less. `aligned` shifts the samples by half a pixel, so that a pixel's value is that of its centre.
///
/// ```
/// use dispatch_vision::roi_align;
/// use {aten::prelude::*, dispatch_autograd::Differentiable, dispatch_runtime::prelude::*};
///
/// # fn main() -> Result<()> {
/// let image = Tensor::arange(0.0..16.0, DType::F64)?.reshape([1, 1, 4, 4])?.requires_grad_(true)?;
/// let left_half = Tensor::from([[0.0, 0.0, 0.0, 2.0, 4.0]]);
/// let means = roi_align!(&image, &left_half, spatial_scale = 1.0, pooled_height = 2, pooled_width = 1, sampling_ratio = 2, aligned = true)?;
/// assert_eq!(means.to_vec::<f64>()?, [2.5, 10.5]);
/// means.sum()?.backward()?;
/// assert_eq!(image.grad().unwrap().sum()?.item::<f64>()?, 2.0);
/// # Ok(())
/// # }
/// ```
#[op_def(
    "torchvision::roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio, bool aligned) -> Tensor",
    plan
)]
pub fn roi_align(_: ...) -> Result<Tensor>;

#[op_plan(roi_align)]
fn roi_align_plan(
    input: &Tensor,
    rois: &Tensor,
    pooled_height: i64,
    pooled_width: i64,
    sampling_ratio: i64,
) -> Result<Plan<RegionSizes>, BadArgument> {
    let (sizes, count) = RegionArguments { rois, pooled_height, pooled_width }.check_images(input)?;
    check_sampling_ratio(sampling_ratio)?;
    let result_sizes = [count, input.sizes()[1], pooled_height, pooled_width];
    Ok(Plan::new(sizes, [Spec::contiguous(input.dtype(), &result_sizes)]))
}

/// The gradient of [`roi_align`] for its images, which have the sizes `[batch_size, channels, height, width]`.
///
/// ```
/// use dispatch_vision::_roi_align_backward;
/// use {aten::prelude::*, dispatch_runtime::prelude::*};
///
/// # fn main() -> Result<()> {
/// let (grad, region) = (Tensor::from([[[[1.0]]]]), Tensor::from([[0.0, 0.0, 0.0, 2.0, 2.0]]));
/// let of_image = _roi_align_backward(&grad, &region, 1.0, 1, 1, 1, 1, 2, 2, 2, true)?;
/// assert_eq!(of_image.to_vec::<f64>()?, [0.25; 4]);
/// # Ok(())
/// # }
/// ```
#[op_def(
    "torchvision::_roi_align_backward(Tensor grad, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, SymInt batch_size, SymInt channels, SymInt height, SymInt width, int sampling_ratio, bool aligned) -> Tensor",
    plan
)]
pub fn _roi_align_backward(_: ...) -> Result<Tensor>;

#[op_plan(_roi_align_backward)]
fn roi_align_backward_plan(
    grad: &Tensor,
    rois: &Tensor,
    pooled_height: i64,
    pooled_width: i64,
    batch_size: i64,
    channels: i64,
    height: i64,
    width: i64,
    sampling_ratio: i64,
) -> Result<Plan<RegionSizes>, BadArgument> {
    let image_sizes = [batch_size, channels, height, width];
    let arguments = RegionArguments { rois, pooled_height, pooled_width };
    let sizes = arguments.check_gradient(grad, image_sizes, |_| Ok(channels))?;
    check_sampling_ratio(sampling_ratio)?;
    Ok(Plan::new(sizes, [Spec::contiguous(grad.dtype(), &image_sizes)]))
}
