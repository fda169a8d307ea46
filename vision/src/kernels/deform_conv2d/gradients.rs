//! The gradients of a deformable convolution for an image, its offsets and its factors, from the gradients of the columns.

use dispatch_runtime::prelude::*;
use kernels_cpu::engine::parallel_chunks;

use super::points::Point;
use crate::DeformableConvolution;

/// The values that the gradients of one image are computed from.
pub(super) struct ColumnGradients<'a, T> {
    pub(super) plan: &'a DeformableConvolution,
    /// The image with its border of zeros.
    pub(super) padded: &'a [T],
    pub(super) points: &'a [Point<T>],
    pub(super) mask: Option<&'a [T]>,
    /// The gradient of each element of the columns.
    pub(super) columns: &'a [T],
}

impl<T: Floating> ColumnGradients<'_, T> {
    /// Writes the gradients of the offsets: for each point the vertical one and the horizontal one.
    pub(super) fn write_offset(&self, out: &mut [T]) {
        let area = self.plan.result_area();
        parallel_chunks(out, 2 * area, 1, |line, out| {
            let (down, right) = out.split_at_mut(area);
            for channel in self.channels_of_line(line) {
                let (padded, columns) = (self.padded_channel(channel), self.columns_of_line(channel, line));
                for (pixel, &grad) in columns.iter().enumerate() {
                    let point = &self.points[line * area + pixel];
                    let [a, b, c, d] = point.pixels(padded, self.plan.padded_width());
                    let grad = self.mask.map_or(grad, |mask| mask[line * area + pixel] * grad);
                    let (left, above) = (T::ONE - point.right, T::ONE - point.below);
                    down[pixel] = down[pixel] + (point.right * (d - b) + left * (c - a)) * grad;
                    right[pixel] = right[pixel] + (point.below * (d - c) + above * (b - a)) * grad;
                }
            }
        });
    }

    /// Writes the gradients of the factors.
    pub(super) fn write_mask(&self, out: &mut [T]) {
        let area = self.plan.result_area();
        parallel_chunks(out, area, 1, |line, out| {
            for channel in self.channels_of_line(line) {
                let (padded, columns) = (self.padded_channel(channel), self.columns_of_line(channel, line));
                for ((out, &grad), point) in out.iter_mut().zip(columns).zip(&self.points[line * area..]) {
                    *out = *out + grad * point.value(padded, self.plan.padded_width());
                }
            }
        });
    }

    /// Writes the gradients of the image. `scratch` has room for the image with its border, which collects the gradients of points outside.
    pub(super) fn write_image(&self, scratch: &mut [T], out: &mut [T]) {
        let Self { plan, .. } = *self;
        let (width, size) = (plan.padded_width(), plan.kernel_size() * plan.result_area());
        parallel_chunks(scratch, plan.padded_area(), 1, |channel, padded| {
            padded.fill(T::ZERO);
            let start = channel / plan.channels_per_offset_group() * size;
            let columns = &self.columns[channel * size..][..size];
            for (at, (&grad, point)) in columns.iter().zip(&self.points[start..]).enumerate() {
                let factor = self.mask.map_or(T::ONE, |mask| mask[start + at]);
                let corners = [0, 1, width, width + 1].map(|step| point.corner + step);
                for (weight, corner) in point.weights().into_iter().zip(corners) {
                    padded[corner] = padded[corner] + factor * weight * grad;
                }
            }
        });
        let scratch = &*scratch;
        parallel_chunks(out, plan.image_area(), 1, |channel, pixels| {
            let rows = scratch[channel * plan.padded_area()..].chunks_exact(width).skip(1);
            for (to, from) in pixels.chunks_exact_mut(plan.image[1].max(1)).zip(rows) {
                to.copy_from_slice(&from[1..=plan.image[1]]);
            }
        });
    }

    /// Returns the channels that read the points of a line: an element of the kernel in a group of offsets.
    fn channels_of_line(&self, line: usize) -> std::ops::Range<usize> {
        let count = self.plan.channels_per_offset_group();
        let group = line / self.plan.kernel_size();
        group * count..(group + 1) * count
    }

    fn padded_channel(&self, channel: usize) -> &[T] {
        &self.padded[channel * self.plan.padded_area()..][..self.plan.padded_area()]
    }

    /// Returns the gradients of a channel's columns for the element of the kernel of a line.
    fn columns_of_line(&self, channel: usize, line: usize) -> &[T] {
        let (kernel_size, area) = (self.plan.kernel_size(), self.plan.result_area());
        &self.columns[(channel * kernel_size + line % kernel_size) * area..][..area]
    }
}
