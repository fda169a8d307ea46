//! Autocast policies. Boxes lose too much in a 16-bit dtype, so these operators compute in `float32`.
//!
//! torchvision has policies for the other operators on CUDA only, where this crate has no kernels.

use opdispatch::autocast;
use opdispatch::guard;
use opdispatch::prelude::*;

use crate::{nms, roi_align};

autocast!(fp32: nms);

/// A policy that `autocast!` does not have: the result has the dtype of the images again.
#[op_impl(roi_align, Autocast)]
fn roi_align_autocast(_: ...) -> Result<Tensor> {
    let _off = guard::autocast(input.device(), None);
    let [images, regions] = [to_f32(input)?, to_f32(rois)?];
    let means = roi_align(&images, &regions, spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned)?;
    means.to(input.dtype())
}

fn to_f32(tensor: &Tensor) -> Result<Tensor> {
    let is_short = tensor.dtype().is_floating() && tensor.dtype() != DType::F64;
    if is_short { tensor.to(DType::F32) } else { Ok(tensor.clone()) }
}
