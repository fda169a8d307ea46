//! The columns of a deformable convolution: a row for each channel and each element of the kernel, a column for each pixel of the result.

use dispatch_runtime::prelude::*;
use kernels_cpu::engine::parallel_chunks;

use super::points::Point;
use crate::DeformableConvolution;

/// Copies an image into the middle of an image with a border of zeros, whose border is zero already. With the border, all points have four
/// pixels.
pub(super) fn pad_image<T: Floating>(plan: &DeformableConvolution, pixels: &[T], padded: &mut [T]) {
    let width = plan.image[1];
    parallel_chunks(padded, plan.padded_area(), 1, |channel, padded| {
        let pixels = &pixels[channel * plan.image_area()..][..plan.image_area()];
        let rows = padded.chunks_exact_mut(plan.padded_width()).skip(1);
        for (to, from) in rows.zip(pixels.chunks_exact(width.max(1))) {
            to[1..=width].copy_from_slice(from);
        }
    });
}

/// Writes the values of all points, times their factors.
pub(super) fn write_columns<T: Floating>(
    plan: &DeformableConvolution,
    padded: &[T],
    points: &[Point<T>],
    mask: Option<&[T]>,
    columns: &mut [T],
) {
    let size = plan.kernel_size() * plan.result_area();
    parallel_chunks(columns, size, 1, |channel, values| {
        let padded = &padded[channel * plan.padded_area()..][..plan.padded_area()];
        let start = channel / plan.channels_per_offset_group() * size;
        for (value, point) in values.iter_mut().zip(&points[start..]) {
            *value = point.value(padded, plan.padded_width());
        }
        if let Some(mask) = mask {
            values.iter_mut().zip(&mask[start..]).for_each(|(value, &factor)| *value = factor * *value);
        }
    });
}
