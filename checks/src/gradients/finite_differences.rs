//! Checks gradients against finite differences: first order, and second order.
//!
//! A directional derivative is one scalar, but every element of the gradient contributes to it. For the second order, the differentiated
//! function is the gradient, as a function of the leaves and the cotangents.

use std::rc::Rc;

use dispatch_autograd::Differentiation;
use dispatch_runtime::schema::SchemaKind;
use dispatch_runtime::{Complex64, DType, Scalar, Tensor};

use super::differentiable_call::DifferentiableCall;
use super::differentiable_inputs::{
    DifferentiableInputs, cosine_cotangent, create_leaf, is_real_or_complex_leaf, to_floats,
};
use super::exemptions::{first_order_exemption, is_single_precision, second_order_exemption};
use crate::array::Array;
use crate::datum::Datum;
use crate::reference_call::ReferenceCall;
use crate::tensors::{to_array, to_complex, to_tensor};
use crate::verdict::{CallError, Failure, Verdict, catch_panics, is_wrong_gradient};

/// Half of the distance between the two points of the coarsest finite difference.
pub(super) const COARSEST_STEP: f64 = 1.0 / 4096.0;
/// The absolute error that is always allowed.
const ALLOWED_ABSOLUTE_ERROR: f64 = 1e-12;
/// The distance by which arguments move if the function is not smooth at the given point.
const RETRY_DISTANCE: f64 = 0.01;

/// The reason why a function is not checked if its finite differences are not precise.
pub(crate) const NOT_SMOOTH: &str =
    "it is not smooth at this point, nor near it, or it is computed in less than double precision";

/// Returns one verdict per order, or none if the call has no leaf or no differentiable result.
pub(crate) fn check(case: &ReferenceCall) -> Vec<Verdict> {
    if case.operator.schema().kind() == SchemaKind::Out {
        return Vec::new();
    }
    if is_single_precision(case) {
        return vec![Verdict::NotApplicable("the operator has no double precision")];
    }
    let point = match EvaluationPoint::new(case, &case.arguments) {
        Ok(point) => point,
        Err(error) => return vec![error.into()],
    };
    if !point.has_leaves() || !point.has_results() {
        return Vec::new();
    }
    let first = first_order_exemption(case).map_or_else(|| check_first_order(&point), Verdict::NotApplicable);
    let second = second_order_exemption(case).map_or_else(|| check_second_order(&point), Verdict::NotApplicable);
    vec![first.with_context("first order"), second.with_context("second order")]
}

/// Compares the gradient with differences of the results.
pub(crate) fn check_first_order(point: &EvaluationPoint<'_>) -> Verdict {
    check_at_or_near(point, first_order_pair)
}

/// Compares the gradient of the gradient with differences of the gradient.
pub(crate) fn check_second_order(point: &EvaluationPoint<'_>) -> Verdict {
    check_at_or_near(point, second_order_pair)
}

/// Checks one order at a point, or next to it if the function is not smooth there.
fn check_at_or_near(point: &EvaluationPoint<'_>, order: DerivativeOrder) -> Verdict {
    for point in [point, &point.moved_along(&point.random_direction(0), RETRY_DISTANCE)] {
        let is_smooth = (1..=2).try_fold(true, |smooth, seed| {
            Ok::<_, CallError>(smooth && order(point, &point.random_direction(seed), seed)?.compare()?)
        });
        match is_smooth {
            Ok(true) => return Verdict::Passed,
            Ok(false) => {}
            Err(CallError::Failed(Failure::WrongDirectionalDerivative { actual, expected, .. })) => {
                let arguments = wrong_arguments(point, order);
                return Failure::WrongDirectionalDerivative { actual, expected, arguments }.into();
            }
            Err(error) => return error.into(),
        }
    }
    Verdict::NotApplicable(point.imprecise_result_reason().unwrap_or(NOT_SMOOTH))
}

/// Returns the names of the tensors with respect to which the derivative is wrong: the check fails if only their elements move.
fn wrong_arguments(point: &EvaluationPoint<'_>, order: DerivativeOrder) -> Vec<String> {
    let mut start = 0;
    let mut wrong = Vec::new();
    for (name, count) in &*point.leaves {
        let own = start..start + count;
        start = own.end;
        let fails = |seed: u64| {
            let mut direction = point.random_direction(seed);
            direction.iter_mut().enumerate().filter(|(at, _)| !own.contains(at)).for_each(|(_, part)| *part = 0.0);
            let compared = order(point, &direction, seed).and_then(|pair| pair.compare());
            matches!(compared, Err(CallError::Failed(Failure::WrongDirectionalDerivative { .. })))
        };
        if (1..=2).any(fails) {
            wrong.push(name.clone());
        }
    }
    wrong
}

/// The two derivatives of one order along a direction. The number is the seed of the direction.
type DerivativeOrder = fn(&EvaluationPoint<'_>, &[f64], u64) -> Result<DerivativePair, CallError>;

/// A directional derivative: by the gradient, and by finite differences.
struct DerivativePair {
    actual: f64,
    expected: f64,
    /// The sum of the magnitudes of the terms of `actual`.
    scale: f64,
    /// The uncertainty of the finite differences: their change at half of the step, and the size of a kink.
    uncertainty: f64,
    /// The rounding error of the finite differences.
    rounding_error: f64,
}

impl DerivativePair {
    /// Compares the two derivatives. Returns `false` if the finite differences are not precise enough for that, and an error if the
    /// derivatives disagree.
    fn compare(&self) -> Result<bool, CallError> {
        let Self { actual, expected, scale, uncertainty, rounding_error } = *self;
        if !(expected.is_finite() && uncertainty <= 1e-4 * scale.max(expected.abs()) + rounding_error) {
            return Ok(false);
        }
        if (actual - expected).abs() <= 1e-6 * scale.max(expected.abs()) + uncertainty + rounding_error {
            return Ok(true);
        }
        Err(Failure::WrongDirectionalDerivative { actual, expected, arguments: Vec::new() }.into())
    }

    fn from_differences(
        actual: &[f64],
        direction: &[f64],
        along: impl Fn(f64) -> Result<f64, CallError>,
    ) -> Result<Self, CallError> {
        let mut largest = 0.0_f64;
        let mut differences = [0.0; 2];
        let mut step = COARSEST_STEP;
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
        // For a smooth function, a bend halves with the step. If there is a kink at the point, the bend stays.
        let kink = (2.0 * bends[1] - bends[0]).abs();
        let parts = || actual.iter().zip(direction).map(|(a, b)| a * b);
        Ok(Self {
            actual: parts().sum(),
            expected: (4.0 * fine - coarse) / 3.0,
            scale: parts().map(f64::abs).sum(),
            uncertainty: (fine - coarse).abs() + kink,
            rounding_error: 256.0 * f64::EPSILON * largest / COARSEST_STEP + ALLOWED_ABSOLUTE_ERROR,
        })
    }
}

/// The arguments of a call, and the cotangents of its results.
pub(crate) struct EvaluationPoint<'a> {
    call: &'a dyn DifferentiableCall,
    arguments: Vec<Datum>,
    seeds: Vec<Array>,
    /// The name of each leaf, with its number of elements.
    leaves: Rc<[(String, usize)]>,
    /// The number of elements of all leaves.
    count: usize,
}

/// Compares the gradient with differences of the results.
fn first_order_pair(point: &EvaluationPoint<'_>, direction: &[f64], _: u64) -> Result<DerivativePair, CallError> {
    let direction = &direction[..point.count];
    DerivativePair::from_differences(&point.autograd_gradient()?, direction, |step| {
        point.moved_along(direction, step).weighted_result_sum_or_nan()
    })
}

/// Compares the second-order gradient, of a weighted sum of the gradients, with differences of this sum.
fn second_order_pair(point: &EvaluationPoint<'_>, direction: &[f64], seed: u64) -> Result<DerivativePair, CallError> {
    let mixture = &point.random_direction(seed + 100)[..point.count];
    let mixed = |gradient: Vec<f64>| gradient.iter().zip(mixture).map(|(a, b)| a * b).sum();
    let actual = point.second_order_gradient(mixture)?;
    DerivativePair::from_differences(&actual, direction, |step| {
        let moved = point.moved_along(direction, step);
        if moved.weighted_result_sum_or_nan()?.is_nan() { Ok(f64::NAN) } else { moved.autograd_gradient().map(mixed) }
    })
}

impl<'a> EvaluationPoint<'a> {
    /// Creates the point of these arguments in double precision. The cotangents are fixed numbers.
    pub(crate) fn new(call: &'a dyn DifferentiableCall, arguments: &[Datum]) -> Result<Self, CallError> {
        let apart = |array: &Array| if array.overlaps_itself() { array.contiguous() } else { array.clone() };
        let arguments: Vec<Datum> =
            arguments.iter().map(|datum| datum.in_double_precision().map_arrays(apart)).collect();
        let inputs = DifferentiableInputs::with_complex_leaves(call, &arguments)?;
        let seeds = inputs.call(call)?.iter().map(cosine_cotangent).collect();
        let leaves: Rc<[_]> =
            inputs.leaves.iter().map(|leaf| (leaf.name.clone(), element_count(&leaf.tensor))).collect();
        let count = leaves.iter().map(|(_, count)| count).sum();
        Ok(Self { call, arguments, seeds, leaves, count })
    }

    /// Returns the results that have a gradient.
    pub(crate) fn results(&self) -> Result<Vec<Tensor>, CallError> {
        DifferentiableInputs::with_complex_leaves(self.call, &self.arguments)?.call(self.call)
    }

    /// Whether an argument has elements with respect to which gradients are computed.
    pub(crate) const fn has_leaves(&self) -> bool {
        self.count > 0
    }

    /// Whether a result has a gradient.
    pub(crate) const fn has_results(&self) -> bool {
        !self.seeds.is_empty()
    }

    /// Returns a direction: a number between -1 and 1 for each element of the leaves and then of the cotangents.
    fn random_direction(&self, seed: u64) -> Vec<f64> {
        let mut state = seed;
        let mut arrays = Vec::new();
        let is_symmetric = self.call.reads_one_triangle();
        for (i, datum) in self.arguments.iter().enumerate() {
            let leaves = datum.arrays().into_iter().filter(|array| is_real_or_complex_leaf(self.call, i, array.dtype));
            arrays.extend(leaves.map(|array| Part {
                sizes: &array.sizes,
                is_complex: array.dtype.is_complex(),
                is_symmetric,
                is_constant: self.call.is_constant(i),
            }));
        }
        arrays.extend(self.seeds.iter().map(|seed| Part {
            sizes: &seed.sizes,
            is_complex: false,
            is_symmetric: false,
            is_constant: false,
        }));
        arrays.iter().flat_map(|part| part.pseudorandom_numbers(&mut state)).collect()
    }

    /// Returns the point moved along a direction. If the direction ends before the cotangents, they stay.
    fn moved_along(&self, direction: &[f64], by: f64) -> Self {
        let mut direction = direction.iter();
        let mut step = |array: &Array| {
            let is_complex = array.dtype.is_complex();
            let moved = array.elements.iter().map(|&element| match direction.next() {
                Some(part) if is_complex => {
                    let imaginary_part = direction.next().copied().unwrap_or(0.0);
                    Scalar::Complex(to_complex(element) + Complex64::new(*part, imaginary_part) * by)
                }
                Some(part) => Scalar::Float(element.to_f64().unwrap_or(f64::NAN) + by * part),
                None => element,
            });
            Array { elements: moved.collect(), ..array.clone() }
        };
        let arguments = self.arguments.iter().enumerate().map(|(i, datum)| {
            datum.map_arrays(|array| {
                if is_real_or_complex_leaf(self.call, i, array.dtype) { step(array) } else { array.clone() }
            })
        });
        let arguments = arguments.collect();
        let seeds = self.seeds.iter().map(step).collect();
        Self { call: self.call, arguments, seeds, leaves: Rc::clone(&self.leaves), count: self.count }
    }

    /// Returns the reason why finite differences are not precise, if a result has a dtype of lower precision than the arguments.
    fn imprecise_result_reason(&self) -> Option<&'static str> {
        let results = self.results().ok()?;
        results.iter().find_map(|result| match result.dtype() {
            DType::F32 => Some("its result is float32 for float64 inputs, so finite differences are not precise"),
            DType::F16 | DType::BF16 => {
                Some("its result is a 16-bit float for float64 inputs, so finite differences are not precise")
            }
            _ => None,
        })
    }

    /// Returns the sum of the results, weighted by the cotangents.
    fn weighted_result_sum(&self) -> Result<f64, CallError> {
        let results = self.results()?;
        let mut sum = 0.0;
        for (result, seed) in results.iter().zip(&self.seeds) {
            sum += to_floats(&to_array(result)?).iter().zip(to_floats(seed)).map(|(a, b)| a * b).sum::<f64>();
        }
        Ok(sum)
    }

    /// Returns the weighted sum of the results, or NaN if the operator refuses the arguments.
    fn weighted_result_sum_or_nan(&self) -> Result<f64, CallError> {
        match self.weighted_result_sum() {
            Err(CallError::Failed(Failure::Refused(_))) => Ok(f64::NAN),
            other => other,
        }
    }

    /// Returns the gradients with respect to all leaves, concatenated.
    fn autograd_gradient(&self) -> Result<Vec<f64>, CallError> {
        let inputs = DifferentiableInputs::with_complex_leaves(self.call, &self.arguments)?;
        let results = inputs.call(self.call)?;
        let gradients = inputs.gradients(&results, &self.seeds).map_err(|error| self.name_wrong_gradient(error))?;
        let leaves = inputs.leaves.iter().map(|leaf| &leaf.tensor);
        Ok(concatenate_gradients(leaves.zip(&gradients)))
    }

    /// Adds the name of the argument to an error about a gradient of wrong sizes, if the gradient of one argument alone gives this error.
    fn name_wrong_gradient(&self, error: CallError) -> CallError {
        let CallError::Failed(Failure::Refused(refusal)) = error else { return error };
        let is_wrong = |leaf: usize| {
            let inputs = DifferentiableInputs::with_complex_leaves(self.call, &self.arguments).ok();
            let compute = |mut inputs: DifferentiableInputs| {
                inputs.leaves = vec![inputs.leaves.swap_remove(leaf)];
                inputs.gradients(&inputs.call(self.call)?, &self.seeds)
            };
            matches!(inputs.map(compute), Some(Err(CallError::Failed(Failure::Refused(error)))) if is_wrong_gradient(&error))
        };
        let wrong = if is_wrong_gradient(&refusal) {
            (0..self.leaves.len()).filter(|&leaf| is_wrong(leaf)).collect()
        } else {
            Vec::new()
        };
        let failure = Failure::Refused(refusal);
        CallError::Failed(match wrong[..] {
            [leaf] => Failure::InDerivedCall {
                variant: format!("the gradient of `{}`", self.leaves[leaf].0),
                failure: Box::new(failure),
            },
            _ => failure,
        })
    }

    /// Returns the gradient of a weighted sum of the gradients, with respect to the leaves and the cotangents. `mixture` has the weights.
    fn second_order_gradient(&self, mixture: &[f64]) -> Result<Vec<f64>, CallError> {
        let inputs = DifferentiableInputs::with_complex_leaves(self.call, &self.arguments)?;
        let results = inputs.call(self.call)?;
        let leaves: Vec<&Tensor> = inputs.leaves.iter().map(|leaf| &leaf.tensor).collect();
        let seeds = self
            .seeds
            .iter()
            .map(|seed| create_leaf(seed, self.call.device()))
            .collect::<Result<Vec<Tensor>, CallError>>()?;
        let seeds: Vec<&Tensor> = seeds.iter().collect();
        let results: Vec<&Tensor> = results.iter().collect();
        let all: Vec<&Tensor> = leaves.iter().chain(&seeds).copied().collect();
        let nothing = || vec![0.0; all.iter().map(|tensor| element_count(tensor)).sum()];
        if results.is_empty() {
            return Ok(nothing());
        }
        let task = Differentiation::of_outputs(&results).with_seeds(&seeds).allow_unused().create_graph();
        let gradients = catch_panics(|| task.grad(&leaves))?;
        let mut mixture = mixture.iter().copied();
        let weights = leaves.iter().map(|leaf| {
            let weights: Vec<f64> = mixture.by_ref().take(element_count(leaf)).collect();
            to_tensor(&Array::from_floats(leaf.sizes(), &weights), self.call.device())
        });
        let weights = weights.collect::<Result<Vec<Tensor>, _>>()?;
        let pairs = gradients.iter().zip(&weights).filter_map(|(gradient, weight)| Some((gradient.as_ref()?, weight)));
        let (of, weights): (Vec<&Tensor>, Vec<&Tensor>) =
            pairs.filter(|(gradient, _)| gradient.requires_grad()).unzip();
        if of.is_empty() {
            return Ok(nothing());
        }
        let second = catch_panics(|| Differentiation::of_outputs(&of).with_seeds(&weights).allow_unused().grad(&all))?;
        let second = second.iter().map(|gradient| gradient.as_ref().map(to_array).transpose());
        let second: Vec<Option<Array>> = second.collect::<Result<_, _>>()?;
        Ok(concatenate_gradients(all.into_iter().zip(&second)))
    }
}

/// The part of a direction that belongs to one tensor.
struct Part<'a> {
    sizes: &'a [i64],
    is_complex: bool,
    /// Square matrices are symmetric, or Hermitian.
    is_symmetric: bool,
    is_constant: bool,
}

impl Part<'_> {
    /// Returns a number for each element, or two for each complex one.
    fn pseudorandom_numbers(&self, state: &mut u64) -> Vec<f64> {
        let mut numbers = pseudorandom_numbers(state, self.sizes, self.is_symmetric);
        if self.is_complex {
            let mut imaginary = pseudorandom_numbers(state, self.sizes, self.is_symmetric);
            if self.is_symmetric {
                make_antisymmetric(self.sizes, &mut imaginary);
            }
            numbers = numbers.into_iter().zip(imaginary).flat_map(<[f64; 2]>::from).collect();
        }
        if self.is_constant {
            numbers.fill(0.0);
        }
        numbers
    }
}

/// Changes the signs above the diagonals of symmetric matrices, and clears the diagonals.
fn make_antisymmetric(sizes: &[i64], numbers: &mut [f64]) {
    let side = sizes.last().map_or(1, |&side| usize::try_from(side).unwrap_or(0).max(1));
    for matrix in numbers.chunks_exact_mut(side * side) {
        for row in 0..side {
            matrix[row * (side + 1)] = 0.0;
            matrix[row * side + row + 1..(row + 1) * side].iter_mut().for_each(|number| *number = -*number);
        }
    }
}

fn element_count(tensor: &Tensor) -> usize {
    usize::try_from(tensor.geometry().count()).unwrap_or(0)
}

/// Concatenates the elements of all gradients, with zeros for a missing gradient.
fn concatenate_gradients<'a>(gradients: impl Iterator<Item = (&'a Tensor, &'a Option<Array>)>) -> Vec<f64> {
    let all = gradients.flat_map(|(of, gradient)| match gradient {
        Some(gradient) => to_floats(gradient),
        None => vec![0.0; element_count(of)],
    });
    all.collect()
}

/// Returns pseudorandom numbers between -1 and 1 for an array, the same on every machine. If `is_symmetric`, square matrices are symmetric.
pub fn pseudorandom_numbers(state: &mut u64, sizes: &[i64], is_symmetric: bool) -> Vec<f64> {
    let count: i64 = sizes.iter().product();
    let mut numbers: Vec<f64> = (0..count).map(|_| next_pseudorandom_number(state)).collect();
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
fn next_pseudorandom_number(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut x = *state;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let upper = u32::try_from((x ^ (x >> 31)) >> 32).unwrap_or(0);
    f64::from(upper) / f64::from(u32::MAX) * 2.0 - 1.0
}
