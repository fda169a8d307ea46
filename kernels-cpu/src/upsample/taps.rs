//! Which elements of one dimension an element of the result is made of.

use dispatch_runtime::Scalar;

use crate::compute::Compute;

/// How elements between those of the image come about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// The nearest, counted from where elements begin.
    Nearest,
    /// The nearest, counted from their middles.
    Exact,
    /// On the line between two.
    Linear,
    /// On the curve through four.
    Cubic,
}

/// Positions in the image with their weights, as many for each element of the result.
pub(super) struct Taps<T> {
    /// How many elements the image has.
    pub(super) from: usize,
    /// How many the result has.
    pub(super) to: usize,
    each: usize,
    weighted: Vec<(usize, T)>,
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positions in images"
)]
impl<T: Compute> Taps<T> {
    pub(super) fn new(way: Way, align_corners: bool, single: bool, from: i64, to: i64, scale: Option<f64>) -> Self {
        let each = match way {
            Way::Nearest | Way::Exact => 1,
            Way::Linear => 2,
            Way::Cubic => 4,
        };
        let round = Rounding { single: single || each == 1 };
        let step = match scale.filter(|&scale| scale > 0.0) {
            _ if align_corners && to > 1 => round.of((from - 1) as f64 / (to - 1) as f64),
            _ if align_corners => 0.0,
            Some(scale) => round.of(1.0 / scale),
            None => round.of(from as f64 / to as f64),
        };
        let last = from - 1;
        let mut weighted = Vec::with_capacity(to as usize * each);
        let mut push = |at: i64, weight: f64| {
            weighted.push((at.clamp(0, last) as usize, T::from_scalar(Scalar::Float(weight))));
        };
        for place in 0..to {
            let middle = if align_corners {
                round.of(step * place as f64)
            } else {
                round.of(round.of(step * round.of(place as f64 + 0.5)) - 0.5)
            };
            match way {
                Way::Nearest => push(round.of(place as f64 * step).floor() as i64, 1.0),
                Way::Exact => push(round.of(round.of(place as f64 + 0.5) * step).floor() as i64, 1.0),
                Way::Linear if from == to => {
                    push(place, 1.0);
                    push(place, 0.0);
                }
                Way::Linear => {
                    let middle = middle.max(0.0);
                    let at = (middle as i64).min(last);
                    let right = round.of(middle - at as f64).clamp(0.0, 1.0);
                    push(at, round.of(1.0 - right));
                    push(at + i64::from(at < last), right);
                }
                Way::Cubic => {
                    let at = middle.floor();
                    let right = round.of(middle - at).clamp(0.0, 1.0);
                    let weights = [outer(right + 1.0), inner(right), inner(1.0 - right), outer(2.0 - right)];
                    for (offset, weight) in (-1..).zip(weights) {
                        push(at as i64 + offset, weight);
                    }
                }
            }
        }
        Self { from: from as usize, to: to as usize, each, weighted }
    }

    /// Those of one element of the result.
    #[inline(always)]
    pub(super) fn of(&self, place: usize) -> &[(usize, T)] {
        &self.weighted[place * self.each..][..self.each]
    }
}

/// The bend of the cubic curve, which is PyTorch's.
const BEND: f64 = -0.75;

/// The weight of an element at most one away.
fn inner(x: f64) -> f64 {
    ((BEND + 2.0) * x - (BEND + 3.0)) * x * x + 1.0
}

/// The weight of an element one to two away.
fn outer(x: f64) -> f64 {
    ((BEND * x - 5.0 * BEND) * x + 8.0 * BEND) * x - 4.0 * BEND
}

/// Positions are computed in the precision that PyTorch computes them in, as the nearest element depends on it.
struct Rounding {
    single: bool,
}

impl Rounding {
    #[expect(clippy::cast_possible_truncation, reason = "rounding is what is asked for")]
    fn of(&self, x: f64) -> f64 {
        if self.single { f64::from(x as f32) } else { x }
    }
}
