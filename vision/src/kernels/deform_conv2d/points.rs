//! The points of an image that a deformable convolution reads.

use dispatch_runtime::prelude::*;
use kernels_cpu::engine::parallel_chunks;

use crate::DeformableConvolution;

/// A point of an image, between four pixels.
#[derive(Clone, Copy)]
pub(super) struct Point<T> {
    /// The index of the pixel to the upper left, in an image with its border of zeros.
    pub(super) corner: usize,
    /// The distances from that pixel, from 0 to 1.
    pub(super) below: T,
    pub(super) right: T,
}

impl<T: Floating> Default for Point<T> {
    fn default() -> Self {
        Self { corner: 0, below: T::ZERO, right: T::ZERO }
    }
}

impl<T: Floating> Point<T> {
    /// Returns the weights of the four pixels: upper left, upper right, lower left, lower right.
    pub(super) fn weights(&self) -> [T; 4] {
        let (above, left) = (T::ONE - self.below, T::ONE - self.right);
        [above * left, above * self.right, self.below * left, self.below * self.right]
    }

    /// Returns the four pixels of an image whose rows with their border have `width` pixels.
    pub(super) fn pixels(&self, padded: &[T], width: usize) -> [T; 4] {
        let (upper, lower) =
            (&padded[self.corner..self.corner + 2], &padded[self.corner + width..self.corner + width + 2]);
        [upper[0], upper[1], lower[0], lower[1]]
    }

    /// Returns the interpolated value.
    pub(super) fn value(&self, padded: &[T], width: usize) -> T {
        let ([a, b, c, d], pixels) = (self.weights(), self.pixels(padded, width));
        a * pixels[0] + b * pixels[1] + c * pixels[2] + d * pixels[3]
    }
}

/// The points that count as outside of the image, and are zero.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PointBounds {
    /// Points a pixel or more away from all pixels.
    Values,
    /// Points more than a pixel above or to the left of all pixels: one pixel away, the value is zero, and the gradient is not.
    Gradients,
}

/// Finds the points of an image: for each group of offsets, each element of the kernel and each pixel of the result.
pub(super) fn find_points<T: Floating>(
    plan: &DeformableConvolution,
    offset: &[T],
    bounds: PointBounds,
    points: &mut [Point<T>],
) {
    let area = plan.result_area();
    parallel_chunks(points, area, 1, |line, points| {
        let element = line % plan.kernel_size();
        let element = [element / plan.kernel[1], element % plan.kernel[1]];
        let (down, right) = offset[2 * line * area..][..2 * area].split_at(area);
        for (pixel, point) in points.iter_mut().enumerate() {
            let at = [pixel / plan.result[1], pixel % plan.result[1]];
            let shift = [down[pixel], right[pixel]];
            let position = [0, 1].map(|axis| {
                let step = to_i64(at[axis]) * plan.stride[axis] - plan.padding[axis];
                to_number::<T>(step + to_i64(element[axis]) * plan.dilation[axis]) + shift[axis]
            });
            *point = point_at(plan, position, bounds);
        }
    });
}

fn point_at<T: Floating>(plan: &DeformableConvolution, position: [T; 2], bounds: PointBounds) -> Point<T> {
    let is_inside = |axis: usize| {
        let position = position[axis];
        let is_near = if bounds == PointBounds::Values { position > -T::ONE } else { position >= -T::ONE };
        is_near && position < to_number(to_i64(plan.image[axis]))
    };
    if !(is_inside(0) && is_inside(1)) {
        // The last two rows are zero.
        return Point { corner: (plan.image[0] + 1) * plan.padded_width(), below: T::ZERO, right: T::ZERO };
    }
    let low = position.map(|position| position.to_f64().floor());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 0 to the size")]
    let [row, column] = low.map(|low| (low + 1.0) as usize);
    Point {
        corner: row * plan.padded_width() + column,
        below: position[0] - T::from_f64(low[0]),
        right: position[1] - T::from_f64(low[1]),
    }
}

fn to_i64(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "the kernels of torchvision convert so, too")]
fn to_number<T: Floating>(number: i64) -> T {
    T::from_f64(number as f64)
}
