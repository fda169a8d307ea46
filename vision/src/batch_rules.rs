//! Batch rules: each computes an operator for all slices of a batch in one call.
//!
//! Regions of all slices become regions of one call. If the images are batched too, those of all slices become the images of one call, and
//! a region's image number counts them. `nms` has no rule: the number of its results depends on the elements, so `vmap` refuses it.

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use dispatch_vmap::{Batch, Mapped, op_vmap};

use crate::{
    _deform_conv2d_backward, _ps_roi_align_backward, _ps_roi_pool_backward, _roi_align_backward, _roi_pool_backward,
    deform_conv2d, ps_roi_align, ps_roi_pool, roi_align, roi_pool,
};

#[op_vmap(roi_align)]
fn roi_align_batched(batch: &Batch, _: ...) -> Result<Option<Mapped>> {
    let Some((images, regions)) = fold_images_and_regions(batch, &input, &rois)? else { return Ok(None) };
    let means = roi_align(&images, &regions, spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned)?;
    unfold(batch, &means, 0).map(Some)
}

#[op_vmap(roi_pool)]
fn roi_pool_batched(batch: &Batch, _: ...) -> Result<Option<(Mapped, Mapped)>> {
    let Some((images, regions)) = fold_images_and_regions(batch, &input, &rois)? else { return Ok(None) };
    let (maxima, indices) = roi_pool(&images, &regions, spatial_scale, pooled_height, pooled_width)?;
    Ok(Some((unfold(batch, &maxima, 0)?, unfold(batch, &indices, 0)?)))
}

#[op_vmap(ps_roi_align)]
fn ps_roi_align_batched(batch: &Batch, _: ...) -> Result<Option<(Mapped, Mapped)>> {
    let Some((images, regions)) = fold_images_and_regions(batch, &input, &rois)? else { return Ok(None) };
    let (means, channels) =
        ps_roi_align(&images, &regions, spatial_scale, pooled_height, pooled_width, sampling_ratio)?;
    Ok(Some((unfold(batch, &means, 0)?, unfold(batch, &channels, 0)?)))
}

#[op_vmap(ps_roi_pool)]
fn ps_roi_pool_batched(batch: &Batch, _: ...) -> Result<Option<(Mapped, Mapped)>> {
    let Some((images, regions)) = fold_images_and_regions(batch, &input, &rois)? else { return Ok(None) };
    let (means, channels) = ps_roi_pool(&images, &regions, spatial_scale, pooled_height, pooled_width)?;
    Ok(Some((unfold(batch, &means, 0)?, unfold(batch, &channels, 0)?)))
}

#[op_vmap(_roi_align_backward)]
fn roi_align_backward_batched(batch: &Batch, _: ...) -> Result<Option<Mapped>> {
    let Some(regions) = fold_regions(batch, &rois, batch_size)? else { return Ok(None) };
    let all = batch_size.saturating_mul(batch.size());
    let grad = fold(batch, &grad, 0)?;
    let images = _roi_align_backward(
        &grad,
        &regions,
        spatial_scale,
        pooled_height,
        pooled_width,
        all,
        channels,
        height,
        width,
        sampling_ratio,
        aligned,
    )?;
    unfold(batch, &images, 0).map(Some)
}

#[op_vmap(_roi_pool_backward)]
fn roi_pool_backward_batched(batch: &Batch, _: ...) -> Result<Option<Mapped>> {
    let Some(regions) = fold_regions(batch, &rois, batch_size)? else { return Ok(None) };
    let all = batch_size.saturating_mul(batch.size());
    let (grad, argmax) = (fold(batch, &grad, 0)?, fold(batch, &argmax, 0)?);
    let images = _roi_pool_backward(
        &grad,
        &regions,
        &argmax,
        spatial_scale,
        pooled_height,
        pooled_width,
        all,
        channels,
        height,
        width,
    )?;
    unfold(batch, &images, 0).map(Some)
}

#[op_vmap(_ps_roi_align_backward)]
fn ps_roi_align_backward_batched(batch: &Batch, _: ...) -> Result<Option<Mapped>> {
    let Some(regions) = fold_regions(batch, &rois, batch_size)? else { return Ok(None) };
    let all = batch_size.saturating_mul(batch.size());
    let (grad, channel_mapping) = (fold(batch, &grad, 0)?, fold(batch, &channel_mapping, 0)?);
    let images = _ps_roi_align_backward(
        &grad,
        &regions,
        &channel_mapping,
        spatial_scale,
        pooled_height,
        pooled_width,
        sampling_ratio,
        all,
        channels,
        height,
        width,
    )?;
    unfold(batch, &images, 0).map(Some)
}

#[op_vmap(_ps_roi_pool_backward)]
fn ps_roi_pool_backward_batched(batch: &Batch, _: ...) -> Result<Option<Mapped>> {
    let Some(regions) = fold_regions(batch, &rois, batch_size)? else { return Ok(None) };
    let all = batch_size.saturating_mul(batch.size());
    let (grad, channel_mapping) = (fold(batch, &grad, 0)?, fold(batch, &channel_mapping, 0)?);
    let images = _ps_roi_pool_backward(
        &grad,
        &regions,
        &channel_mapping,
        spatial_scale,
        pooled_height,
        pooled_width,
        all,
        channels,
        height,
        width,
    )?;
    unfold(batch, &images, 0).map(Some)
}

/// The number up to which `float32` has all integers.
const MAX_EXACT_NUMBER: i64 = 1 << 24;

/// Returns the images and the regions of all slices. Images that are the same for all slices stay as they are.
fn fold_images_and_regions(batch: &Batch, images: &Mapped, rois: &Mapped) -> Result<Option<(Tensor, Tensor)>> {
    if !images.is_mapped() {
        return Ok(Some((images.tensor().clone(), fold(batch, rois, 0)?)));
    }
    let all = fold(batch, images, 0)?;
    let regions = fold_regions(batch, rois, all.sizes()[0] / batch.size().max(1))?;
    Ok(regions.map(|regions| (all, regions)))
}

/// Returns the regions of all slices, whose image numbers count the images of all slices. A number that is wrong in its slice becomes -1,
/// which is wrong in the whole call. Returns `None` if the dtype is too short for the numbers, and for arguments that the operator refuses:
/// the call is then a loop.
fn fold_regions(batch: &Batch, rois: &Mapped, images: i64) -> Result<Option<Tensor>> {
    let counts_all_images = matches!(rois.tensor().dtype(), DType::F32 | DType::F64)
        && images.saturating_mul(batch.size()) <= MAX_EXACT_NUMBER;
    if !counts_all_images || rois.slice_rank() != 2 {
        return Ok(None);
    }
    let rois = batch.expand_batch_first(rois)?;
    let numbers = rois.narrow(-1, 0, 1)?;
    let first_of_slice = aten::arange(batch.size().into(), Some(rois.dtype()), None, Some(rois.device()), None)?;
    let first_of_slice = (first_of_slice * images)?.reshape([-1, 1, 1])?;
    let is_right = numbers.ge(0)?.logical_and(&numbers.lt(images)?)?;
    let wrong = aten::full_like(&numbers, (-1).into(), None, None, None, None, None)?;
    let numbers = aten::where_self(&is_right, &(numbers.trunc()? + first_of_slice)?, &wrong)?;
    let edges = rois.narrow(-1, 1, rois.sizes()[2] - 1)?;
    aten::cat(&[numbers, edges], -1)?.flatten_dims(0, 1).map(Some)
}

/// Deformable convolutions of all slices are one convolution: with the images of all slices, or, if each slice has its own weight or bias,
/// with a group of channels for each.
#[op_vmap(deform_conv2d)]
fn deform_conv2d_batched(batch: &Batch, _: ...) -> Result<Mapped> {
    let has_own_weights = weight.is_mapped() || bias.is_mapped();
    let (dim, factor) = if has_own_weights { (1, batch.size()) } else { (0, 1) };
    let (input, offset) = (fold(batch, &input, dim)?, fold(batch, &offset, dim)?);
    let mask = if use_mask { fold(batch, &mask, dim)? } else { mask.tensor().clone() };
    let (weight, bias) = if has_own_weights {
        (fold(batch, &weight, 0)?, fold(batch, &bias, 0)?)
    } else {
        (weight.tensor().clone(), bias.tensor().clone())
    };
    let result = deform_conv2d(
        &input,
        &weight,
        &offset,
        &mask,
        &bias,
        stride_h,
        stride_w,
        pad_h,
        pad_w,
        dilation_h,
        dilation_w,
        groups.saturating_mul(factor),
        offset_groups.saturating_mul(factor),
        use_mask,
    )?;
    unfold(batch, &result, dim)
}

/// Each slice has its own gradients of weight and bias, so each slice is a group of channels.
#[op_vmap(_deform_conv2d_backward)]
fn deform_conv2d_backward_batched(batch: &Batch, _: ...) -> Result<(Mapped, Mapped, Mapped, Mapped, Mapped)> {
    let all_masks = batch.expand_batch_first(&mask)?;
    let mask = if use_mask { fold(batch, &mask, 1)? } else { all_masks.clone() };
    let (of_input, of_weight, of_offset, of_mask, of_bias) = _deform_conv2d_backward(
        &fold(batch, &grad, 1)?,
        &fold(batch, &input, 1)?,
        &fold(batch, &weight, 0)?,
        &fold(batch, &offset, 1)?,
        &mask,
        &fold(batch, &bias, 0)?,
        stride_h,
        stride_w,
        pad_h,
        pad_w,
        dilation_h,
        dilation_w,
        groups.saturating_mul(batch.size()),
        offset_groups.saturating_mul(batch.size()),
        use_mask,
    )?;
    let of_mask = if use_mask { unfold(batch, &of_mask, 1)? } else { Mapped::from_batch_first(of_mask) };
    Ok((
        unfold(batch, &of_input, 1)?,
        unfold(batch, &of_weight, 0)?,
        unfold(batch, &of_offset, 1)?,
        of_mask,
        unfold(batch, &of_bias, 0)?,
    ))
}

/// Merges the batch dimension with dimension `dim` of a slice. A tensor that is the same for all slices is repeated.
fn fold(batch: &Batch, tensor: &Mapped, dim: i64) -> Result<Tensor> {
    batch.expand_batch_first(tensor)?.movedim(0, dim)?.flatten_dims(dim, dim + 1)
}

/// Splits the batch dimension off dimension `dim` of a result.
fn unfold(batch: &Batch, result: &Tensor, dim: i64) -> Result<Mapped> {
    let size = aten::size_int(result, dim)? / batch.size().max(1);
    aten::unflatten_int(result, dim, &[batch.size(), size])?.movedim(dim, 0).map(Mapped::from_batch_first)
}
