//! Which elements of one dimension an element of the result is made of.

use dispatch_runtime::{OutOfMemory, Scalar};

use engine::allocation::reserve;
use engine::compute::{Compute, Precision};

/// How elements between those of the image come about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum UpsampleMode {
    /// The nearest, counted from where elements begin.
    Nearest,
    /// The nearest, counted from their middles.
    Exact,
    /// On the line between two.
    Linear,
    /// On the curve through four.
    Cubic,
    /// As on a line, with all the elements that a smaller image has no room for.
    SmoothLinear,
    /// The same as on a curve.
    SmoothCubic,
}

/// Positions in the image with their weights, for each element of the result.
pub(super) struct Taps<T> {
    /// How many elements the image has.
    pub(super) from: usize,
    /// How many the result has.
    pub(super) to: usize,
    /// Where those of each element begin, and where all end.
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
    /// # Errors
    ///
    /// Returns [`OutOfMemory`] if each element of the result is made of so many that there is no memory for the list.
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

    /// Those of one element of the result.
    #[inline(always)]
    pub(super) fn of(&self, place: usize) -> &[(usize, T)] {
        &self.weighted[self.starts[place]..self.starts[place + 1]]
    }
}

/// The weights of the four elements around a position that is so far right of the second, and by how much they grow with it.
#[inline(always)]
pub(crate) fn curve<T: Precision>(right: T) -> [(T, T); 4] {
    let (one, two) = (T::near(1.0), T::near(2.0));
    let turned = |(weight, slope): (T, T)| (weight, -slope);
    [outer(right + one), inner(right), turned(inner(one - right)), turned(outer(two - right))]
}

/// The bend of the cubic curve, which is PyTorch's.
const BEND: f64 = -0.75;

/// The weight of an element at most one away, and its slope.
#[inline(always)]
fn inner<T: Precision>(x: T) -> (T, T) {
    let (a, b, one) = (T::near(BEND + 2.0), T::near(BEND + 3.0), T::near(1.0));
    ((a * x - b) * x * x + one, (T::near(3.0) * a * x - T::near(2.0) * b) * x)
}

/// The weight of an element one to two away, and its slope.
#[inline(always)]
fn outer<T: Precision>(x: T) -> (T, T) {
    let [a, five, eight, four] = [1.0, 5.0, 8.0, 4.0].map(|times| T::near(BEND * times));
    (((a * x - five) * x + eight) * x - four, (T::near(3.0) * a * x - T::near(2.0) * five) * x + eight)
}

/// The weight of an element of a smoothed image, whose curve bends less.
fn soft(x: f64) -> f64 {
    const BEND: f64 = -0.5;
    match x {
        ..1.0 => ((BEND + 2.0) * x - (BEND + 3.0)) * x * x + 1.0,
        ..2.0 => (((x - 5.0) * x + 8.0) * x - 4.0) * BEND,
        _ => 0.0,
    }
}

/// How many elements [`smooth`] takes at most.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positions in images")]
fn reached(step: f64, reach: f64) -> usize {
    (2.0 * reach * step.max(1.0) + 2.0) as usize
}

/// All elements near the middle of a place, as far as an element of the result reaches; their weights add up to one.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "positions in images")]
fn smooth(place: i64, step: f64, from: i64, reach: f64, weight: impl Fn(f64) -> f64, push: &mut impl FnMut(i64, f64)) {
    let (middle, wide) = (step * (place as f64 + 0.5), step.max(1.0));
    let first = ((middle - reach * wide + 0.5) as i64).max(0);
    let end = ((middle + reach * wide + 0.5) as i64).min(from);
    let weights: Vec<f64> = (first..end).map(|at| weight(((at as f64 - middle + 0.5) / wide).abs())).collect();
    let total: f64 = weights.iter().sum();
    (first..end).zip(weights).for_each(|(at, weight)| push(at, if total == 0.0 { weight } else { weight / total }));
}
