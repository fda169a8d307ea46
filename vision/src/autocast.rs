//! Autocast policies. The edges of boxes are rounded too much in a 16-bit dtype, so these operators compute in `float32`.
//!
//! torchvision has policies for the other operators on CUDA only, where this crate has no kernels.

use aten::prelude::*;
use dispatch_autocast::{self as autocast, autocast, cached_cast};
use dispatch_runtime::prelude::*;

use crate::{nms, roi_align};

autocast!(fp32: nms);

/// A policy that `autocast!` does not have: the result has the dtype of the images again.
#[op_impl(roi_align, Autocast)]
fn roi_align_autocast(_: ...) -> Result<Tensor> {
    let device = input.device();
    let _off = autocast::disable(device);
    let [images, regions] = [cached_cast(input, DType::F32, device)?, cached_cast(rois, DType::F32, device)?];
    roi_align(&images, &regions, spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned)?.to(input.dtype())
}
