//! Taps along one dimension: the elements of the image, with weights, that make an element of the result.

use dispatch_runtime::{OutOfMemory, Scalar};

use engine::allocation::reserve;
use engine::compute::{Compute, Precision};

/// The interpolation between elements of the image.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum UpsampleMode {
    /// The nearest element, with a rounded-down index.
    Nearest,
    /// The element nearest to the center of the new element.
    Exact,
    /// Linear interpolation of two elements.
    Linear,
    /// Cubic interpolation of four elements.
    Cubic,
    /// Linear interpolation with antialiasing: elements of a smaller image average over more elements.
    SmoothLinear,
    /// Cubic interpolation with antialiasing: elements of a smaller image average over more elements.
    SmoothCubic,
}

/// The taps of each element of the result: indices in the image with weights.
pub(super) struct Taps<T> {
    /// The number of elements of the image.
    pub(super) from: usize,
    /// The number of elements of the result.
    pub(super) to: usize,
    /// The index in `weighted` of the first tap of each element, and the number of all taps.
    starts: Vec<usize>,
    weighted: Vec<(usize, T)>,
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positions in images"
)]
impl<T: Compute> Taps<T> {
    /// Computes the taps between images of the sizes `from` and `to`.
    ///
    /// # Errors
    ///
    /// Returns [`OutOfMemory`] if there is no memory for all taps.
    pub(super) fn new(
        way: UpsampleMode,
        align_corners: bool,
        single: bool,
        from: i64,
        to: i64,
        scale: Option<f64>,
    ) -> Result<Self, OutOfMemory> {
        // Positions are computed in the precision that PyTorch computes them in, as the nearest element depends on it.
        let single = single || matches!(way, UpsampleMode::Nearest | UpsampleMode::Exact);
        let round = |x: f64| if single { f64::from(x as f32) } else { x };
        let step = match scale.filter(|&scale| scale > 0.0) {
            _ if align_corners && to > 1 => round((from - 1) as f64 / (to - 1) as f64),
            _ if align_corners => 0.0,
            Some(scale) => round(1.0 / scale),
            None => round(from as f64 / to as f64),
        };
        let last = from - 1;
        let each = match way {
            UpsampleMode::Nearest | UpsampleMode::Exact => 1,
            UpsampleMode::Linear => 2,
            UpsampleMode::Cubic => 4,
            UpsampleMode::SmoothLinear => reached(step, 1.0).min(from as usize),
            UpsampleMode::SmoothCubic => reached(step, 2.0).min(from as usize),
        };
        let (mut starts, mut weighted) = (reserve(to as usize + 1)?, reserve((to as usize).saturating_mul(each))?);
        starts.push(0);
        for place in 0..to {
            let mut push = |at: i64, weight: f64| {
                weighted.push((at.clamp(0, last) as usize, T::from_scalar(Scalar::Float(weight))));
            };
            let middle = if align_corners {
                round(step * place as f64)
            } else {
                round(round(step * round(place as f64 + 0.5)) - 0.5)
            };
            match way {
                UpsampleMode::Nearest => push(round(place as f64 * step).floor() as i64, 1.0),
                UpsampleMode::Exact => push(round(round(place as f64 + 0.5) * step).floor() as i64, 1.0),
                UpsampleMode::Linear if from == to => {
                    push(place, 1.0);
                    push(place, 0.0);
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
                    for (offset, (weight, _)) in (-1..).zip(curve(right)) {
                        push((at as i64).saturating_add(offset), weight);
                    }
                }
                UpsampleMode::SmoothLinear => smooth(place, step, from, 1.0, |x| (1.0 - x).max(0.0), &mut push),
                UpsampleMode::SmoothCubic => smooth(place, step, from, 2.0, soft, &mut push),
            }
            starts.push(weighted.len());
        }
        Ok(Self { from: from as usize, to: to as usize, starts, weighted })
    }

    /// Returns the taps of one element of the result.
    #[inline(always)]
    pub(super) fn of(&self, place: usize) -> &[(usize, T)] {
        &self.weighted[self.starts[place]..self.starts[place + 1]]
    }
}

/// Returns the weights of the four elements around a position, and their derivatives. The position is at the distance `right` after the
/// second element.
#[inline(always)]
pub(crate) fn curve<T: Precision>(right: T) -> [(T, T); 4] {
    let (one, two) = (T::near(1.0), T::near(2.0));
    let turned = |(weight, slope): (T, T)| (weight, -slope);
    [outer(right + one), inner(right), turned(inner(one - right)), turned(outer(two - right))]
}

/// The parameter of the cubic convolution kernel, which is PyTorch's.
const BEND: f64 = -0.75;

/// Returns the weight of an element at a distance of at most 1, and its derivative.
#[inline(always)]
fn inner<T: Precision>(x: T) -> (T, T) {
    let (a, b, one) = (T::near(BEND + 2.0), T::near(BEND + 3.0), T::near(1.0));
    ((a * x - b) * x * x + one, (T::near(3.0) * a * x - T::near(2.0) * b) * x)
}

/// Returns the weight of an element at a distance from 1 to 2, and its derivative.
#[inline(always)]
fn outer<T: Precision>(x: T) -> (T, T) {
    let [a, five, eight, four] = [1.0, 5.0, 8.0, 4.0].map(|times| T::near(BEND * times));
    (((a * x - five) * x + eight) * x - four, (T::near(3.0) * a * x - T::near(2.0) * five) * x + eight)
}

/// Returns the weight of an element in cubic interpolation with antialiasing, whose kernel has another parameter.
fn soft(x: f64) -> f64 {
    const BEND: f64 = -0.5;
    match x {
        ..1.0 => ((BEND + 2.0) * x - (BEND + 3.0)) * x * x + 1.0,
        ..2.0 => (((x - 5.0) * x + 8.0) * x - 4.0) * BEND,
        _ => 0.0,
    }
}

/// Returns an upper bound of the number of taps that [`smooth`] computes.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positions in images")]
fn reached(step: f64, reach: f64) -> usize {
    (2.0 * reach * step.max(1.0) + 2.0) as usize
}

/// Computes the taps of an element with antialiasing: all elements near its center. Their weights add up to 1.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "positions in images")]
fn smooth(place: i64, step: f64, from: i64, reach: f64, weight: impl Fn(f64) -> f64, push: &mut impl FnMut(i64, f64)) {
    let (middle, wide) = (step * (place as f64 + 0.5), step.max(1.0));
    let first = ((middle - reach * wide + 0.5) as i64).max(0);
    let end = ((middle + reach * wide + 0.5) as i64).min(from);
    let weights: Vec<f64> = (first..end).map(|at| weight(((at as f64 - middle + 0.5) / wide).abs())).collect();
    let total: f64 = weights.iter().sum();
    (first..end).zip(weights).for_each(|(at, weight)| push(at, if total == 0.0 { weight } else { weight / total }));
}
