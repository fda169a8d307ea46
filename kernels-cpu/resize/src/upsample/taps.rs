//! Taps along one dimension: the elements of the image, with weights, that make an element of the result.

use std::f64::consts::PI;

use dispatch_runtime::{Floating, OutOfMemory, Scalar};

use engine::allocation::try_with_capacity;
use engine::compute::ComputeType;

/// The interpolation between elements of the image.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum UpsampleMode {
    /// The nearest element, with a rounded-down index.
    Nearest,
    /// The element nearest to the center of the new element.
    NearestExact,
    /// Linear interpolation of two elements.
    Linear,
    /// Cubic interpolation of four elements.
    Cubic,
    /// Linear interpolation with antialiasing: elements of a smaller image average over more elements.
    AntialiasedLinear,
    /// Cubic interpolation with antialiasing: elements of a smaller image average over more elements.
    AntialiasedCubic,
    /// Lanczos interpolation of six elements with antialiasing: elements of a smaller image average over more elements.
    AntialiasedLanczos,
}

impl UpsampleMode {
    pub(super) const fn is_antialiased(self) -> bool {
        matches!(self, Self::AntialiasedLinear | Self::AntialiasedCubic | Self::AntialiasedLanczos)
    }
}

/// The taps of each element of the result: indices in the image with weights.
pub(super) struct UpsampleTaps<T> {
    /// The number of elements of the image.
    pub(super) input_size: usize,
    /// The number of elements of the result.
    pub(super) output_size: usize,
    /// The index in `weighted_indices` of the first tap of each element, and the number of all taps.
    starts: Vec<usize>,
    weighted_indices: Vec<(usize, T)>,
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positions in images"
)]
impl<T: ComputeType> UpsampleTaps<T> {
    /// Computes the taps between images of the sizes `input_size` and `output_size`.
    ///
    /// # Errors
    ///
    /// Returns [`OutOfMemory`] if there is no memory for all taps.
    pub(super) fn new(
        mode: UpsampleMode,
        align_corners: bool,
        single: bool,
        input_size: i64,
        output_size: i64,
        scale: Option<f64>,
    ) -> Result<Self, OutOfMemory> {
        // Positions are computed in the precision that PyTorch computes them in, as the nearest element depends on it.
        let single = single || matches!(mode, UpsampleMode::Nearest | UpsampleMode::NearestExact);
        let round = |x: f64| if single { f64::from(x as f32) } else { x };
        let step = match scale.filter(|&scale| scale > 0.0) {
            _ if align_corners && output_size > 1 => round((input_size - 1) as f64 / (output_size - 1) as f64),
            _ if align_corners => 0.0,
            Some(scale) => round(1.0 / scale),
            None => round(input_size as f64 / output_size as f64),
        };
        let last = input_size - 1;
        let each = match mode {
            UpsampleMode::Nearest | UpsampleMode::NearestExact => 1,
            UpsampleMode::Linear => 2,
            UpsampleMode::Cubic => 4,
            UpsampleMode::AntialiasedLinear => max_tap_count(step, 1.0).min(input_size as usize),
            UpsampleMode::AntialiasedCubic => max_tap_count(step, 2.0).min(input_size as usize),
            UpsampleMode::AntialiasedLanczos => max_tap_count(step, LANCZOS_RADIUS).min(input_size as usize),
        };
        let (mut starts, mut weighted_indices) = (
            try_with_capacity(output_size as usize + 1)?,
            try_with_capacity((output_size as usize).saturating_mul(each))?,
        );
        starts.push(0);
        for output_index in 0..output_size {
            let mut push = |at: i64, weight: f64| {
                weighted_indices.push((at.clamp(0, last) as usize, T::from_scalar(Scalar::Float(weight))));
            };
            let middle = if align_corners {
                round(step * output_index as f64)
            } else {
                round(round(step * round(output_index as f64 + 0.5)) - 0.5)
            };
            match mode {
                UpsampleMode::Nearest => push(round(output_index as f64 * step).floor() as i64, 1.0),
                UpsampleMode::NearestExact => push(round(round(output_index as f64 + 0.5) * step).floor() as i64, 1.0),
                UpsampleMode::Linear if input_size == output_size => {
                    push(output_index, 1.0);
                    push(output_index, 0.0);
                }
                UpsampleMode::Linear => {
                    let middle = middle.max(0.0);
                    let at = (middle as i64).min(last);
                    let right = round(middle - at as f64).clamp(0.0, 1.0);
                    push(at, round(1.0 - right));
                    push(at + i64::from(at < last), right);
                }
                UpsampleMode::Cubic => {
                    let at = middle.floor();
                    let right = round(middle - at).clamp(0.0, 1.0);
                    for (offset, (weight, _)) in (-1..).zip(cubic_weights(right)) {
                        push((at as i64).saturating_add(offset), weight);
                    }
                }
                UpsampleMode::AntialiasedLinear => {
                    push_antialiased_taps(
                        output_index,
                        step,
                        round,
                        input_size,
                        1.0,
                        |x| (1.0 - x).max(0.0),
                        &mut push,
                    );
                }
                UpsampleMode::AntialiasedCubic => {
                    push_antialiased_taps(
                        output_index,
                        step,
                        round,
                        input_size,
                        2.0,
                        antialiased_cubic_weight,
                        &mut push,
                    );
                }
                UpsampleMode::AntialiasedLanczos => {
                    push_antialiased_taps(
                        output_index,
                        step,
                        round,
                        input_size,
                        LANCZOS_RADIUS,
                        lanczos_weight,
                        &mut push,
                    );
                }
            }
            starts.push(weighted_indices.len());
        }
        Ok(Self { input_size: input_size as usize, output_size: output_size as usize, starts, weighted_indices })
    }

    /// Returns the taps of one element of the result.
    #[inline(always)]
    pub(super) fn taps_of_result(&self, output_index: usize) -> &[(usize, T)] {
        &self.weighted_indices[self.starts[output_index]..self.starts[output_index + 1]]
    }
}

/// Returns the weights of the four elements around a position, and their derivatives. The position is at the distance `right` after the
/// second element.
#[inline(always)]
pub(crate) fn cubic_weights<T: Floating>(right: T) -> [(T, T); 4] {
    let (one, two) = (T::from_f64(1.0), T::from_f64(2.0));
    let negate_derivative = |(weight, derivative): (T, T)| (weight, -derivative);
    [
        far_cubic_weight(right + one),
        near_cubic_weight(right),
        negate_derivative(near_cubic_weight(one - right)),
        negate_derivative(far_cubic_weight(two - right)),
    ]
}

/// The parameter of the cubic convolution kernel, which is PyTorch's.
const CUBIC_KERNEL_PARAMETER: f64 = -0.75;

/// Returns the weight of an element at a distance of at most 1, and its derivative.
#[inline(always)]
fn near_cubic_weight<T: Floating>(x: T) -> (T, T) {
    let (a, b, one) =
        (T::from_f64(CUBIC_KERNEL_PARAMETER + 2.0), T::from_f64(CUBIC_KERNEL_PARAMETER + 3.0), T::from_f64(1.0));
    ((a * x - b) * x * x + one, (T::from_f64(3.0) * a * x - T::from_f64(2.0) * b) * x)
}

/// Returns the weight of an element at a distance from 1 to 2, and its derivative.
#[inline(always)]
fn far_cubic_weight<T: Floating>(x: T) -> (T, T) {
    let [a, five, eight, four] = [1.0, 5.0, 8.0, 4.0].map(|times| T::from_f64(CUBIC_KERNEL_PARAMETER * times));
    (((a * x - five) * x + eight) * x - four, (T::from_f64(3.0) * a * x - T::from_f64(2.0) * five) * x + eight)
}

/// Returns the weight of an element in cubic interpolation with antialiasing, whose kernel has another parameter.
fn antialiased_cubic_weight(x: f64) -> f64 {
    const CUBIC_KERNEL_PARAMETER: f64 = -0.5;
    match x {
        ..1.0 => ((CUBIC_KERNEL_PARAMETER + 2.0) * x - (CUBIC_KERNEL_PARAMETER + 3.0)) * x * x + 1.0,
        ..2.0 => (((x - 5.0) * x + 8.0) * x - 4.0) * CUBIC_KERNEL_PARAMETER,
        _ => 0.0,
    }
}

/// The distance up to which elements have a weight in Lanczos interpolation.
const LANCZOS_RADIUS: f64 = 3.0;

/// Returns the weight of an element at the distance `x` in Lanczos interpolation: `sinc(x) sinc(x / 3)`.
fn lanczos_weight(x: f64) -> f64 {
    let sinc = |x: f64| if x == 0.0 { 1.0 } else { (PI * x).sin() / (PI * x) };
    if x < LANCZOS_RADIUS { sinc(x) * sinc(x / LANCZOS_RADIUS) } else { 0.0 }
}

/// Returns an upper bound of the number of taps that [`push_antialiased_taps`] computes.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positions in images")]
fn max_tap_count(step: f64, reach: f64) -> usize {
    (2.0 * reach * step.max(1.0) + 2.0) as usize
}

/// Computes the taps of an element with antialiasing: all elements near its center. Their weights add up to 1.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "positions in images")]
fn push_antialiased_taps(
    output_index: i64,
    step: f64,
    round: impl Fn(f64) -> f64,
    input_size: i64,
    radius: f64,
    weight: impl Fn(f64) -> f64,
    push: &mut impl FnMut(i64, f64),
) {
    let (middle, wide) = (round(step * (output_index as f64 + 0.5)), step.max(1.0));
    let reach = round(radius * wide);
    let first = ((round(middle - reach) + 0.5) as i64).max(0);
    let end = ((round(middle + reach) + 0.5) as i64).min(input_size);
    let weights: Vec<f64> = (first..end).map(|at| weight(((at as f64 - middle + 0.5) / wide).abs())).collect();
    let total: f64 = weights.iter().sum();
    (first..end).zip(weights).for_each(|(at, weight)| push(at, if total == 0.0 { weight } else { weight / total }));
}
