//! Derivatives. Regions and boxes have none, as in torchvision.
//!
//! The gradients of `roi_align` and `roi_pool` are linear in the gradient of the result, so they have derivatives, too. The gradients of
//! the other operators have neither a derivative nor a statement: a second backward pass through them is an error with their name.

use aten::prelude::*;
use dispatch_autograd::{TensorOutline, not_differentiable, op_grad};
use dispatch_runtime::prelude::*;

use crate::{
    _deform_conv2d_backward, _ps_roi_align_backward, _ps_roi_pool_backward, _roi_align_backward, _roi_pool_backward,
    deform_conv2d, nms, ps_roi_align, ps_roi_pool, roi_align, roi_pool,
};

not_differentiable!(nms);

#[op_grad(roi_align, not_differentiable(rois))]
fn roi_align_grad(grad: &Tensor, input: &TensorOutline, rois: &Tensor, _: ...) -> Result<Tensor> {
    let [n, c, h, w] = image_sizes(input);
    _roi_align_backward(grad, rois, spatial_scale, pooled_height, pooled_width, n, c, h, w, sampling_ratio, aligned)
}

#[op_grad(_roi_align_backward, not_differentiable(rois))]
fn roi_align_backward_grad(grad0: &Tensor, rois: &Tensor, _: ...) -> Result<Tensor> {
    roi_align(grad0, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned)
}

#[op_grad(roi_pool, not_differentiable(rois, result1))]
fn roi_pool_grad(grad: &Tensor, input: &TensorOutline, rois: &Tensor, result1: &Tensor, _: ...) -> Result<Tensor> {
    let [n, c, h, w] = image_sizes(input);
    _roi_pool_backward(grad, rois, result1, spatial_scale, pooled_height, pooled_width, n, c, h, w)
}

#[op_grad(_roi_pool_backward, not_differentiable(rois, argmax))]
fn roi_pool_backward_grad(grad0: &Tensor, rois: &Tensor, argmax: &Tensor) -> Result<Tensor> {
    let images = rois.select(1, 0)?.to(DType::I64)?;
    let channels = grad0.flatten_dims(2, -1)?.index_select(0, &images)?;
    let indices = argmax.flatten_dims(2, -1)?.to(DType::I64)?;
    let values = channels.gather(2, &indices.clamp_min(0)?)?;
    values.masked_fill(&indices.lt(0)?, 0)?.reshape(argmax.sizes())
}

#[op_grad(ps_roi_align, not_differentiable(rois, result1))]
fn ps_roi_align_grad(grad: &Tensor, input: &TensorOutline, rois: &Tensor, result1: &Tensor, _: ...) -> Result<Tensor> {
    let [n, c, h, w] = image_sizes(input);
    _ps_roi_align_backward(grad, rois, result1, spatial_scale, pooled_height, pooled_width, sampling_ratio, n, c, h, w)
}

#[op_grad(ps_roi_pool, not_differentiable(rois, result1))]
fn ps_roi_pool_grad(grad: &Tensor, input: &TensorOutline, rois: &Tensor, result1: &Tensor, _: ...) -> Result<Tensor> {
    let [n, c, h, w] = image_sizes(input);
    _ps_roi_pool_backward(grad, rois, result1, spatial_scale, pooled_height, pooled_width, n, c, h, w)
}

#[op_grad(deform_conv2d)]
fn deform_conv2d_grad(grad: &Tensor, _: ...) -> Result<(Tensor, Tensor, Tensor, Tensor, Tensor)> {
    _deform_conv2d_backward(
        grad,
        input,
        weight,
        offset,
        mask,
        bias,
        stride_h,
        stride_w,
        pad_h,
        pad_w,
        dilation_h,
        dilation_w,
        groups,
        offset_groups,
        use_mask,
    )
}

/// The sizes of images, which the plan has checked to be four.
fn image_sizes(images: &TensorOutline) -> [i64; 4] {
    images.sizes().try_into().unwrap_or_default()
}
