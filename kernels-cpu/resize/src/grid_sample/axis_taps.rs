//! Sampling along one dimension: the elements at a coordinate, their weights, and the derivatives of the weights.
//!
//! The order of operations is PyTorch's. So narrow types, which round after each operation, give the same results.

use aten::{GridSamplePlan, Interpolation, PaddingMode};
use dispatch_runtime::prelude::*;

use super::coordinate::Coordinate;
use crate::upsample::cubic_weights;
use engine::allocation::to_usize;

/// The elements along one dimension that a sample is made of.
#[derive(Clone, Copy)]
pub(super) struct AxisTaps<T> {
    /// The indices of the elements, or `None` outside of the image.
    pub(super) indices: [Option<usize>; 4],
    pub(super) weights: [T; 4],
    /// The derivative of each weight by the position.
    pub(super) derivatives: [T; 4],
    /// The derivative of the position by the coordinate.
    pub(super) scale: T,
    pub(super) count: usize,
}

impl<T: Coordinate> AxisTaps<T> {
    /// Returns the taps of a dimension that a two-dimensional image lacks: the element at index 0, with weight 1.
    pub(super) fn for_missing_dim() -> Self {
        let (zero, one) = (T::from_f64(0.0), T::from_f64(1.0));
        Self { indices: [Some(0), None, None, None], weights: [one; 4], derivatives: [zero; 4], scale: zero, count: 1 }
    }
}

/// The sizes of an image, and the options of the sampling.
pub(super) struct GridSampler<'a> {
    pub(super) sampling: &'a GridSamplePlan,
    pub(super) sizes: Vec<usize>,
    /// The number of elements of the image that a sample is made of.
    pub(super) taps_per_sample: usize,
}

impl<'a> GridSampler<'a> {
    pub(super) fn new(sampling: &'a GridSamplePlan, input: &Tensor) -> Self {
        let sizes: Vec<usize> = input.sizes()[2..].iter().map(|&size| to_usize(size)).collect();
        let along: usize = match sampling.interpolation {
            Interpolation::Nearest => 1,
            Interpolation::Linear => 2,
            Interpolation::Cubic => 4,
        };
        Self { sampling, taps_per_sample: along.pow(u32::try_from(sizes.len()).unwrap_or(0)), sizes }
    }

    /// Returns the number of elements of an image.
    pub(super) fn image_area(&self) -> usize {
        self.sizes.iter().fold(1, |area: usize, &size| area.saturating_mul(size))
    }

    /// Returns the elements at a coordinate, in a dimension of this size.
    pub(super) fn axis_taps<T: Coordinate>(&self, coordinate: T, size: usize) -> AxisTaps<T> {
        let (zero, one, half) = (T::from_f64(0.0), T::from_f64(1.0), T::from_f64(0.5));
        let bounds = AxisBounds::<T>::new(self.sampling, size);
        let scale = if self.sampling.align_corners { bounds.last } else { bounds.size } * half;
        let mut middle = (coordinate + one) * scale;
        if !self.sampling.align_corners {
            middle = middle - half;
        }
        let mut along = AxisTaps { indices: [None; 4], weights: [zero; 4], derivatives: [zero; 4], scale, count: 1 };
        if self.sampling.interpolation == Interpolation::Cubic {
            let first = middle.floor();
            along.count = 4;
            for (number, (weight, derivative)) in cubic_weights(middle - first).into_iter().enumerate() {
                let offset = [-1.0, 0.0, 1.0, 2.0][number];
                along.indices[number] = position_to_index(bounds.pad_position(first + T::from_f64(offset)).0, size);
                (along.weights[number], along.derivatives[number]) = (weight, derivative);
            }
            return along;
        }
        let (middle, sign) = bounds.pad_position(middle);
        if self.sampling.interpolation == Interpolation::Nearest {
            (along.indices[0], along.weights[0]) = (position_to_index(middle.round_to_nearest(), size), one);
            return along;
        }
        let first = middle.floor();
        let right = middle - first;
        along.count = 2;
        along.scale = scale * sign;
        // The second position is computed in `f64`: a narrow type may not represent the next integer.
        (along.indices[0], along.indices[1]) =
            (position_to_index(first, size), position_to_index(first.into() + 1.0, size));
        (along.weights[0], along.weights[1]) = (one - right, right);
        (along.derivatives[0], along.derivatives[1]) = (-one, one);
        along
    }
}

/// The ends of an image along one dimension, and the options of the sampling.
struct AxisBounds<'a, T> {
    sampling: &'a GridSamplePlan,
    /// The size of the image along the dimension.
    size: T,
    /// The last index along the dimension.
    last: T,
}

impl<'a, T: Coordinate> AxisBounds<'a, T> {
    #[expect(clippy::cast_precision_loss, reason = "sizes of images are small")]
    fn new(sampling: &'a GridSamplePlan, size: usize) -> Self {
        Self { sampling, size: T::from_f64(size as f64), last: T::from_f64(size as f64 - 1.0) }
    }

    /// Moves a position into the image, unless the padding is zeros. Also returns the derivative of the moved position by the original one.
    fn pad_position(&self, position: T) -> (T, T) {
        let (zero, one, half) = (T::from_f64(0.0), T::from_f64(1.0), T::from_f64(0.5));
        let (position, sign) = match self.sampling.padding_mode {
            PaddingMode::Zeros => return (position, one),
            PaddingMode::Border => (position, one),
            PaddingMode::Reflection if self.sampling.align_corners => reflect_position(position, zero, self.last),
            PaddingMode::Reflection => reflect_position(position, -half, self.size),
        };
        if position <= zero {
            (zero, zero)
        } else if position >= self.last {
            (self.last, zero)
        } else {
            (position, sign)
        }
    }
}

/// Reflects a position into a range, as often as necessary. Also returns the sign of the derivative.
fn reflect_position<T: Coordinate>(position: T, start: T, span: T) -> (T, T) {
    let (zero, one, two) = (T::from_f64(0.0), T::from_f64(1.0), T::from_f64(2.0));
    if span == zero {
        return (zero, zero);
    }
    let sign = if position < start { -one } else { one };
    let from = (position - start).abs();
    let (rest, times) = (from.remainder(span), (from / span).floor());
    if times.remainder(two) == zero { (rest + start, sign) } else { (span - rest + start, -sign) }
}

/// Converts a position to an index, or to `None` if it is outside of the image.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the position is inside of the image")]
fn position_to_index(position: impl Into<f64>, size: usize) -> Option<usize> {
    let position: f64 = position.into();
    #[expect(clippy::cast_precision_loss, reason = "sizes of images are small")]
    (position >= 0.0 && position < size as f64).then_some(position as usize)
}
