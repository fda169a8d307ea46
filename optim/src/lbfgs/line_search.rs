//! The search for the length of a step that satisfies the strong Wolfe conditions.
//!
//! The loss must fall by at least a part of the fall that the slope at the start predicts, and the slope at the new point must be flatter. The first
//! phase finds an interval that contains such a point. The second one halves it, by cubic interpolation.

use aten::prelude::*;
use dispatch_runtime::{Result, Tensor};

/// A point of the search.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// The length of the step to this point.
    pub(super) length: f64,
    pub(super) loss: f64,
    pub(super) gradient: Tensor,
    /// The product of the gradient and the direction.
    pub(super) slope: f64,
}

/// The result of a search.
pub(super) struct Found {
    pub(super) point: Point,
    /// The number of computed losses.
    pub(super) evals: usize,
}

/// The part of the promised fall of the loss that is enough.
const SUFFICIENT_DECREASE: f64 = 1e-4;
/// The part of the slope at the start that is flat enough.
const CURVATURE: f64 = 0.9;

/// Searches from `start`, first at `length`. `evaluate` returns the point at a length.
pub(super) fn strong_wolfe(
    mut evaluate: impl FnMut(f64) -> Result<Point>,
    start: Point,
    length: f64,
    direction: &Tensor,
    tolerance_change: f64,
    max_evals: usize,
) -> Result<Found> {
    let direction_size: f64 = direction.abs()?.max()?.item()?;
    let (start_loss, start_slope) = (start.loss, start.slope);
    let rises = |point: &Point| point.loss > start_loss + SUFFICIENT_DECREASE * point.length * start_slope;
    let is_flat = |point: &Point| point.slope.abs() <= -CURVATURE * start_slope;

    let (mut previous, mut new) = (start.clone(), evaluate(length)?);
    let (mut evals, mut iteration) = (1, 0);
    let mut bracket = None;
    while iteration < max_evals {
        if rises(&new) || (iteration > 1 && new.loss >= previous.loss) {
            bracket = Some((previous.clone(), new.clone()));
            break;
        }
        if is_flat(&new) {
            return Ok(Found { point: new, evals });
        }
        if new.slope >= 0.0 {
            bracket = Some((previous.clone(), new.clone()));
            break;
        }
        let bounds = (new.length + 0.01 * (new.length - previous.length), new.length * 10.0);
        let next = cubic_minimum(&previous, &new, bounds);
        previous = std::mem::replace(&mut new, evaluate(next)?);
        evals += 1;
        iteration += 1;
    }
    let (mut low, mut high) = ordered(bracket.unwrap_or((start, new)));

    let mut lacks_progress = false;
    while iteration < max_evals && (high.length - low.length).abs() * direction_size >= tolerance_change {
        let (least, most) = (low.length.min(high.length), low.length.max(high.length));
        // The interval keeps the order in which its ends were found, which the formula treats differently only in rounding.
        let mut next = cubic_minimum(&low, &high, (least, most));
        let margin = 0.1 * (most - least);
        if (most - next).min(next - least) < margin {
            if lacks_progress || next >= most || next <= least {
                next = if (next - most).abs() < (next - least).abs() { most - margin } else { least + margin };
                lacks_progress = false;
            } else {
                lacks_progress = true;
            }
        } else {
            lacks_progress = false;
        }
        let new = evaluate(next)?;
        evals += 1;
        iteration += 1;
        if rises(&new) || new.loss >= low.loss {
            high = new;
            (low, high) = ordered((low, high));
        } else {
            let is_done = is_flat(&new);
            if !is_done && new.slope * (high.length - low.length) >= 0.0 {
                high = low;
            }
            low = new;
            if is_done {
                break;
            }
        }
    }
    Ok(Found { point: low, evals })
}

/// Returns the points with the one of less loss first.
fn ordered((a, b): (Point, Point)) -> (Point, Point) {
    if a.loss <= b.loss { (a, b) } else { (b, a) }
}

/// Returns the minimum, within the bounds, of the cubic polynomial with the losses and slopes of two points.
fn cubic_minimum(a: &Point, b: &Point, (least, most): (f64, f64)) -> f64 {
    let d1 = a.slope + b.slope - 3.0 * (a.loss - b.loss) / (a.length - b.length);
    let squared = d1 * d1 - a.slope * b.slope;
    if squared < 0.0 || squared.is_nan() {
        return f64::midpoint(least, most);
    }
    let d2 = squared.sqrt();
    let minimum = if a.length <= b.length {
        b.length - (b.length - a.length) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2.0 * d2))
    } else {
        a.length - (a.length - b.length) * ((a.slope + d2 - d1) / (a.slope - b.slope + 2.0 * d2))
    };
    minimum.max(least).min(most)
}
