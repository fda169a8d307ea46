//! Checks gradients against finite differences: first order, and second order.
//!
//! A directional derivative is one scalar, but every element of the gradient contributes to it. For the second order, the differentiated
//! function is the gradient, as a function of the leaves and the cotangents.

use dispatch_autograd::Differentiation;
use dispatch_runtime::schema::SchemaKind;
use dispatch_runtime::{Scalar, Tensor};

use super::differentiated::{Inputs, cosines, floats, is_leaf, leaf};
use super::exceptions::{first_order, second_order, symmetric};
use crate::array::Array;
use crate::case::Case;
use crate::datum::Datum;
use crate::tensors::{to_array, to_tensor};
use crate::verdict::{Failure, Stop, Verdict, attempt};

/// Half of the distance between the two points of the coarsest finite difference.
const STEP: f64 = 1.0 / 4096.0;
/// The absolute error that is always allowed.
const LEAST: f64 = 1e-12;
/// The distance by which arguments move if the function is not smooth at the recorded point.
const AWAY: f64 = 0.01;

/// Returns one verdict per order, or none if the call has no leaf or no differentiable result.
pub(crate) fn check(case: &Case) -> Vec<Verdict> {
    if case.operator.schema().kind() == SchemaKind::Out {
        return Vec::new();
    }
    let point = match Point::of(case) {
        Ok(point) => point,
        Err(stop) => return vec![stop.into()],
    };
    if point.count == 0 || point.seeds.is_empty() {
        return Vec::new();
    }
    let first = first_order(case).map_or_else(|| somewhere(&point, first), Verdict::LeftOut);
    let second = second_order(case).map_or_else(|| somewhere(&point, second), Verdict::LeftOut);
    vec![first.of("first order"), second.of("second order")]
}

/// Checks one order at a point, or next to it if the function is not smooth there.
fn somewhere(point: &Point<'_>, order: fn(&Point<'_>, u64) -> Result<Slopes, Stop>) -> Verdict {
    for point in [point, &point.moved(&point.direction(0), AWAY)] {
        let agree = (1..=2).try_fold(true, |smooth, seed| Ok::<_, Stop>(smooth && order(point, seed)?.agree()?));
        match agree {
            Ok(true) => return Verdict::Passed,
            Ok(false) => {}
            Err(stop) => return stop.into(),
        }
    }
    Verdict::LeftOut("nothing is smooth there")
}

/// A directional derivative: by the gradient, and by finite differences.
struct Slopes {
    actual: f64,
    expected: f64,
    /// The sum of the magnitudes of the terms of `actual`.
    scale: f64,
    /// The uncertainty of the finite differences: their change at half of the step, and the size of a kink.
    doubt: f64,
    /// The rounding error of the finite differences.
    noise: f64,
}

impl Slopes {
    /// Returns whether the differences are precise enough to tell. Returns an error if the two derivatives disagree.
    fn agree(&self) -> Result<bool, Stop> {
        let Self { actual, expected, scale, doubt, noise } = *self;
        if !(expected.is_finite() && doubt <= 1e-4 * scale.max(expected.abs()) + noise) {
            return Ok(false);
        }
        if (actual - expected).abs() <= 1e-6 * scale.max(expected.abs()) + doubt + noise {
            return Ok(true);
        }
        Err(Stop::Failed(Failure::Slope { actual, expected }))
    }

    fn of(actual: &[f64], direction: &[f64], along: impl Fn(f64) -> Result<f64, Stop>) -> Result<Self, Stop> {
        let mut largest = 0.0_f64;
        let mut differences = [0.0; 2];
        let mut step = STEP;
        let mut bends = [0.0; 2];
        let here = along(0.0)?;
        for (difference, bend) in differences.iter_mut().zip(&mut bends) {
            let (before, after) = (along(-step)?, along(step)?);
            *difference = (after - before) / (2.0 * step);
            *bend = (after - here + before - here) / step;
            largest = largest.max(before.abs()).max(after.abs());
            step /= 2.0;
        }
        let [coarse, fine] = differences;
        // For a smooth function this value halves with the step. If there is a kink at the point, it stays.
        let kink = (2.0 * bends[1] - bends[0]).abs();
        let parts = || actual.iter().zip(direction).map(|(a, b)| a * b);
        Ok(Self {
            actual: parts().sum(),
            expected: (4.0 * fine - coarse) / 3.0,
            scale: parts().map(f64::abs).sum(),
            doubt: (fine - coarse).abs() + kink,
            noise: 256.0 * f64::EPSILON * largest / STEP + LEAST,
        })
    }
}

/// The arguments of a call, and the cotangents of its results.
struct Point<'a> {
    case: &'a Case,
    arguments: Vec<Datum>,
    seeds: Vec<Array>,
    /// The number of elements of all leaves.
    count: usize,
}

/// Compares the gradient with differences of the results.
fn first(point: &Point<'_>, seed: u64) -> Result<Slopes, Stop> {
    let direction = &point.direction(seed)[..point.count];
    Slopes::of(&point.gradient()?, direction, |step| point.moved(direction, step).value_if_any())
}

/// Compares the second-order gradient, of a weighted sum of the gradients, with differences of this sum.
fn second(point: &Point<'_>, seed: u64) -> Result<Slopes, Stop> {
    let (direction, mixture) = (point.direction(seed), &point.direction(seed + 100)[..point.count]);
    let mixed = |gradient: Vec<f64>| gradient.iter().zip(mixture).map(|(a, b)| a * b).sum();
    let actual = point.second_gradient(mixture)?;
    Slopes::of(&actual, &direction, |step| {
        let moved = point.moved(&direction, step);
        if moved.value_if_any()?.is_nan() { Ok(f64::NAN) } else { moved.gradient().map(mixed) }
    })
}

impl<'a> Point<'a> {
    fn of(case: &'a Case) -> Result<Self, Stop> {
        let apart = |array: &Array| if array.overlaps_itself() { array.contiguous() } else { array.clone() };
        let arguments: Vec<Datum> = case.arguments.iter().map(|datum| datum.in_double().map(apart)).collect();
        let inputs = Inputs::with(case, &arguments)?;
        let seeds = inputs.call(case.operator)?.iter().map(cosines).collect();
        let count = inputs.leaves.iter().map(|leaf| elements(&leaf.tensor)).sum();
        Ok(Self { case, arguments, seeds, count })
    }

    /// Returns a direction: a number between -1 and 1 for each element of the leaves and then of the cotangents.
    fn direction(&self, seed: u64) -> Vec<f64> {
        let mut state = seed;
        let mut arrays = Vec::new();
        let is_symmetric = symmetric(self.case.operator.name().base);
        self.each_leaf(&mut |array| arrays.push((array.sizes.clone(), is_symmetric)));
        arrays.extend(self.seeds.iter().map(|seed| (seed.sizes.clone(), false)));
        arrays.iter().flat_map(|(sizes, is_symmetric)| numbers(&mut state, sizes, *is_symmetric)).collect()
    }

    fn each_leaf(&self, f: &mut dyn FnMut(&Array)) {
        for (i, datum) in self.arguments.iter().enumerate() {
            datum.arrays().into_iter().filter(|array| is_leaf(self.case, i, array.dtype)).for_each(&mut *f);
        }
    }

    /// Returns the point moved along a direction. If the direction ends before the cotangents, they stay.
    fn moved(&self, direction: &[f64], by: f64) -> Self {
        let mut direction = direction.iter();
        let mut step = |array: &Array| {
            let moved = array.elements.iter().map(|&element| match direction.next() {
                Some(part) => Scalar::Float(element.to_f64().unwrap_or(f64::NAN) + by * part),
                None => element,
            });
            Array { elements: moved.collect(), ..array.clone() }
        };
        let arguments = self.arguments.iter().enumerate().map(|(i, datum)| {
            datum.map(|array| if is_leaf(self.case, i, array.dtype) { step(array) } else { array.clone() })
        });
        let arguments = arguments.collect();
        Self { case: self.case, arguments, seeds: self.seeds.iter().map(step).collect(), count: self.count }
    }

    /// Returns the sum of the results, weighted by the cotangents.
    fn value(&self) -> Result<f64, Stop> {
        let results = Inputs::with(self.case, &self.arguments)?.call(self.case.operator)?;
        let mut sum = 0.0;
        for (result, seed) in results.iter().zip(&self.seeds) {
            sum += floats(&to_array(result)?).iter().zip(floats(seed)).map(|(a, b)| a * b).sum::<f64>();
        }
        Ok(sum)
    }

    /// Returns the weighted sum of the results, or NaN if the operator refuses the arguments.
    fn value_if_any(&self) -> Result<f64, Stop> {
        match self.value() {
            Err(Stop::Failed(Failure::Refused(_))) => Ok(f64::NAN),
            other => other,
        }
    }

    /// Returns the gradients with respect to all leaves, concatenated.
    fn gradient(&self) -> Result<Vec<f64>, Stop> {
        let inputs = Inputs::with(self.case, &self.arguments)?;
        let results = inputs.call(self.case.operator)?;
        let gradients = inputs.gradients(&results, &self.seeds)?;
        let leaves = inputs.leaves.iter().map(|leaf| &leaf.tensor);
        Ok(flat(leaves.zip(&gradients)))
    }

    /// Returns the gradient of a weighted sum of the gradients, with respect to the leaves and the cotangents. `mixture` has the weights.
    fn second_gradient(&self, mixture: &[f64]) -> Result<Vec<f64>, Stop> {
        let inputs = Inputs::with(self.case, &self.arguments)?;
        let results = inputs.call(self.case.operator)?;
        let leaves: Vec<&Tensor> = inputs.leaves.iter().map(|leaf| &leaf.tensor).collect();
        let seeds =
            self.seeds.iter().map(|seed| leaf(seed, self.case.device)).collect::<Result<Vec<Tensor>, Stop>>()?;
        let seeds: Vec<&Tensor> = seeds.iter().collect();
        let results: Vec<&Tensor> = results.iter().collect();
        let all: Vec<&Tensor> = leaves.iter().chain(&seeds).copied().collect();
        let nothing = || vec![0.0; all.iter().map(|tensor| elements(tensor)).sum()];
        if results.is_empty() {
            return Ok(nothing());
        }
        let task = Differentiation::of(&results).seeded(&seeds).allow_unused().create_graph();
        let gradients = attempt(|| task.grad(&leaves))?;
        let mut mixture = mixture.iter().copied();
        let weights = leaves.iter().map(|leaf| {
            let weights: Vec<f64> = mixture.by_ref().take(elements(leaf)).collect();
            to_tensor(&Array::floats(leaf.sizes(), &weights), self.case.device)
        });
        let weights = weights.collect::<Result<Vec<Tensor>, _>>()?;
        let pairs = gradients.iter().zip(&weights).filter_map(|(gradient, weight)| Some((gradient.as_ref()?, weight)));
        let (of, weights): (Vec<&Tensor>, Vec<&Tensor>) =
            pairs.filter(|(gradient, _)| gradient.requires_grad()).unzip();
        if of.is_empty() {
            return Ok(nothing());
        }
        let second = attempt(|| Differentiation::of(&of).seeded(&weights).allow_unused().grad(&all))?;
        let second = second.iter().map(|gradient| gradient.as_ref().map(to_array).transpose());
        let second: Vec<Option<Array>> = second.collect::<Result<_, _>>()?;
        Ok(flat(all.into_iter().zip(&second)))
    }
}

fn elements(tensor: &Tensor) -> usize {
    usize::try_from(tensor.geometry().count()).unwrap_or(0)
}

/// Concatenates the elements of all gradients, with zeros for a missing gradient.
fn flat<'a>(gradients: impl Iterator<Item = (&'a Tensor, &'a Option<Array>)>) -> Vec<f64> {
    let all = gradients.flat_map(|(of, gradient)| match gradient {
        Some(gradient) => floats(gradient),
        None => vec![0.0; elements(of)],
    });
    all.collect()
}

/// Returns pseudorandom numbers between -1 and 1 for an array, the same on every machine. If `is_symmetric`, square matrices are symmetric.
pub(crate) fn numbers(state: &mut u64, sizes: &[i64], is_symmetric: bool) -> Vec<f64> {
    let count: i64 = sizes.iter().product();
    let mut numbers: Vec<f64> = (0..count).map(|_| number(state)).collect();
    if let &[.., rows, columns] = sizes
        && is_symmetric
        && rows == columns
    {
        let side = usize::try_from(rows).unwrap_or(0);
        for matrix in numbers.chunks_exact_mut((side * side).max(1)) {
            (0..side).for_each(|i| (0..i).for_each(|j| matrix[j * side + i] = matrix[i * side + j]));
        }
    }
    numbers
}

/// Returns the next number of the `SplitMix` generator of Steele, Lea and Flood.
fn number(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut x = *state;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let upper = u32::try_from((x ^ (x >> 31)) >> 32).unwrap_or(0);
    f64::from(upper) / f64::from(u32::MAX) * 2.0 - 1.0
}
