//! `roi_pool`: the maxima of the parts of regions.

use dispatch_runtime::{BadArgument, Spec, prelude::*};

use super::region_sizes::{RegionArguments, RegionSizes};
use crate::checks::{check_device, check_sizes};

/// Region pooling: divides each region of an image into `pooled_height` times `pooled_width` bins, and returns the maximum of the pixels of
/// each bin, and its index in the image's channel.
///
/// A row of `rois` is a region: the number of its image, then its left, upper, right and lower edge. The edges are multiplied by
/// `spatial_scale` and rounded; the pixels on the edges belong to the region. A bin without pixels has the value 0 and the index -1.
///
/// ```
/// use dispatch_vision::roi_pool;
/// use {aten::prelude::*, dispatch_runtime::prelude::*};
///
/// # fn main() -> Result<()> {
/// let image = Tensor::arange(0.0..16.0, DType::F64)?.reshape([1, 1, 4, 4])?;
/// let (maxima, indices) = roi_pool(&image, &Tensor::from([[0.0, 0.0, 0.0, 1.0, 3.0]]), 1.0, 2, 1)?;
/// assert_eq!(maxima.to_vec::<f64>()?, [5.0, 13.0]);
/// assert_eq!(indices.to_vec::<i32>()?, [5, 13]);
/// # Ok(())
/// # }
/// ```
#[op_def(
    "torchvision::roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width) -> (Tensor, Tensor)",
    plan
)]
pub fn roi_pool(_: ...) -> Result<(Tensor, Tensor)>;

#[op_plan(roi_pool)]
fn roi_pool_plan(
    input: &Tensor,
    rois: &Tensor,
    pooled_height: i64,
    pooled_width: i64,
) -> Result<Plan<RegionSizes, 2>, BadArgument> {
    let (sizes, count) = RegionArguments { rois, pooled_height, pooled_width }.check_images(input)?;
    if sizes.height.saturating_mul(sizes.width) > MAX_INDEX_COUNT {
        let expected = "an image of fewer than 2^31 pixels, because the indices are of int32";
        return Err(BadArgument::value("input", format!("of sizes {:?}", input.sizes()), expected));
    }
    let result_sizes = [count, input.sizes()[1], pooled_height, pooled_width];
    Ok(Plan::new(sizes, [input.dtype(), DType::I32].map(|dtype| Spec::contiguous(dtype, &result_sizes))))
}

/// The largest number of pixels whose indices are numbers of `int32`.
const MAX_INDEX_COUNT: usize = 1 << 31;

/// The gradient of [`roi_pool`] for its images, which have the sizes `[batch_size, channels, height, width]`.
///
/// ```
/// use dispatch_vision::_roi_pool_backward;
/// use {aten::prelude::*, dispatch_runtime::prelude::*};
///
/// # fn main() -> Result<()> {
/// let (grad, region) = (Tensor::from([[[[3.0]]]]), Tensor::from([[0.0, 0.0, 0.0, 1.0, 1.0]]));
/// let of_image = _roi_pool_backward(&grad, &region, &Tensor::from([[[[2]]]]), 1.0, 1, 1, 1, 1, 2, 2)?;
/// assert_eq!(of_image.to_vec::<f64>()?, [0.0, 0.0, 3.0, 0.0]);
/// # Ok(())
/// # }
/// ```
#[op_def(
    "torchvision::_roi_pool_backward(Tensor grad, Tensor rois, Tensor argmax, float spatial_scale, SymInt pooled_height, SymInt pooled_width, SymInt batch_size, SymInt channels, SymInt height, SymInt width) -> Tensor",
    plan
)]
pub fn _roi_pool_backward(_: ...) -> Result<Tensor>;

#[op_plan(_roi_pool_backward)]
fn roi_pool_backward_plan(
    grad: &Tensor,
    rois: &Tensor,
    argmax: &Tensor,
    pooled_height: i64,
    pooled_width: i64,
    batch_size: i64,
    channels: i64,
    height: i64,
    width: i64,
) -> Result<Plan<RegionSizes>, BadArgument> {
    let image_sizes = [batch_size, channels, height, width];
    let arguments = RegionArguments { rois, pooled_height, pooled_width };
    let sizes = arguments.check_gradient(grad, image_sizes, |_| Ok(channels))?;
    check_indices_of_result("argmax", argmax, grad)?;
    Ok(Plan::new(sizes, [Spec::contiguous(grad.dtype(), &image_sizes)]))
}

/// Checks an index of `int32` for each element of the gradient.
pub(super) fn check_indices_of_result(name: &'static str, indices: &Tensor, grad: &Tensor) -> Result<(), BadArgument> {
    check_device(name, indices, grad)?;
    if indices.dtype() != DType::I32 {
        return Err(BadArgument::dtype(name, indices.dtype(), DType::I32));
    }
    check_sizes(name, indices, grad.sizes(), "`grad` has")
}
