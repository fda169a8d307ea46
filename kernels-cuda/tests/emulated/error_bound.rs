//! The error bound of results on a device, relative to the same call in double precision on the CPU.
//!
//! A kernel rounds its result, and the operand of its last operation, which is about as large. It also rounds intermediate results. The
//! effect is that of rounded arguments, and calls in double precision with slightly changed arguments measure it. So no test has a
//! tolerance of its own. The conformance suite compares recordings with the same bound; that crate depends on this one, so tests here
//! cannot use it.

use dispatch_runtime::MemoryFormat;
use dispatch_runtime::prelude::*;

use crate::copy_to_device;

/// The factor between the bound and the measured effect of changed arguments. Sums of many rounded numbers have larger errors than a few
/// draws show.
const ERROR_BOUND_FACTOR: f64 = 8.0;

/// The number of times that the arguments are changed at random.
const DRAW_COUNT: u64 = 4;

/// The arguments that are changed slightly (nudged).
#[derive(Clone, Copy)]
pub(crate) enum NudgedArguments<'a> {
    /// Nudges every argument.
    All,
    /// Nudges one argument for each result: the one with the given index, or all arguments for `None`.
    ForEachResult(&'a [Option<usize>]),
}

/// Calls an operator with arguments on a device, and checks its results against the bound. Returns the results.
///
/// The results can be arguments of another operator, whose bound is then relative to them.
#[track_caller]
pub(crate) fn assert_within_error_bound(
    case: &str,
    arguments: &[&Tensor],
    nudged: NudgedArguments<'_>,
    f: impl Fn(&mut [Tensor]) -> Result<Vec<Tensor>>,
) -> Vec<Tensor> {
    match results_within_bound(arguments, nudged, f) {
        Ok(found) => found,
        Err(difference) => panic!("{case}: {difference}"),
    }
}

/// Returns the results on the device, or a description of the first element outside of the bound.
fn results_within_bound(
    arguments: &[&Tensor],
    nudged: NudgedArguments<'_>,
    f: impl Fn(&mut [Tensor]) -> Result<Vec<Tensor>>,
) -> Result<Vec<Tensor>, String> {
    // The arguments are copied first, as the call may write to them.
    let doubles: Vec<Tensor> = arguments.iter().map(|tensor| to_cpu_in_double(tensor)).collect();
    let found = f(&mut arguments.iter().map(|&tensor| tensor.clone()).collect::<Vec<_>>()).unwrap();
    let truth: Vec<Vec<f64>> =
        f(&mut doubles.iter().map(contiguous_copy).collect::<Vec<_>>()).unwrap().iter().map(elements_as_f64).collect();
    assert_eq!(found.len(), truth.len());
    for (index, (tensor, truth)) in found.iter().zip(&truth).enumerate() {
        // A kernel computes at least as precisely as its result's dtype.
        let unit = unit_roundoff(tensor.dtype());
        let is_nudged = |argument: usize| match nudged {
            NudgedArguments::All => true,
            NudgedArguments::ForEachResult(of) => of[index].is_none_or(|only| only == argument),
        };
        let change = (1..=DRAW_COUNT).map(|mut seed| {
            let arguments = doubles.iter().enumerate();
            let arguments = arguments.map(|(k, tensor)| {
                if is_nudged(k) { nudge_elements(tensor, unit, &mut seed) } else { contiguous_copy(tensor) }
            });
            max_distance(&elements_as_f64(&f(&mut arguments.collect::<Vec<_>>()).unwrap()[index]), truth)
        });
        let change = if unit > 0.0 { change.fold(0.0, f64::max) } else { 0.0 };
        if let Some(wrong) = first_element_outside_of_bound(&elements_as_f64(tensor), truth, unit, change) {
            return Err(format!("result {index} of {}: {wrong}", tensor.dtype()));
        }
    }
    Ok(found)
}

/// Describes the first element that is farther from the truth than the bound, if any.
fn first_element_outside_of_bound(found: &[f64], truth: &[f64], unit: f64, change: f64) -> Option<String> {
    if found.len() != truth.len() {
        return Some(format!("{} elements, expected {}", found.len(), truth.len()));
    }
    let bound = |truth: f64| 2.0 * unit * truth.abs() + ERROR_BOUND_FACTOR * change;
    let is_close = |a: f64, b: f64| a.total_cmp(&b).is_eq() || a.is_nan() && b.is_nan() || (a - b).abs() <= bound(b);
    let at = found.iter().zip(truth).position(|(&a, &b)| !is_close(a, b))?;
    let (a, b) = (found[at], truth[at]);
    Some(format!("{a} at {at}, expected {b}: off by {} of the bound", (a - b).abs() / bound(b)))
}

/// Returns the largest distance of two elements, ignoring infinities and NaN.
pub(crate) fn max_distance(one: &[f64], other: &[f64]) -> f64 {
    let distances = one.iter().zip(other).map(|(a, b)| (a - b).abs());
    distances.filter(|distance| distance.is_finite()).fold(0.0, f64::max)
}

/// Returns the maximum relative change of a number that is rounded to a dtype, or zero for integers.
pub(crate) fn unit_roundoff(dtype: DType) -> f64 {
    match dtype {
        DType::BF16 => 2.0_f64.powi(-8),
        DType::F16 => 2.0_f64.powi(-11),
        DType::F32 => 2.0_f64.powi(-24),
        // The truth is in double precision as well, so both are rounded.
        DType::F64 => 2.0_f64.powi(-52),
        _ => 0.0,
    }
}

/// Copies a tensor to the CPU, in double precision if it is floating.
fn to_cpu_in_double(tensor: &Tensor) -> Tensor {
    let dtype = if tensor.dtype().is_floating() { DType::F64 } else { tensor.dtype() };
    contiguous_copy(&aten::to_dtype(&copy_to_device(tensor, Device::CPU), dtype, false, true, None).unwrap())
}

fn contiguous_copy(tensor: &Tensor) -> Tensor {
    aten::clone(tensor, Some(MemoryFormat::Contiguous)).unwrap()
}

/// Copies a tensor, with each floating element changed by the relative amount `unit` up or down.
fn nudge_elements(tensor: &Tensor, unit: f64, seed: &mut u64) -> Tensor {
    if tensor.dtype() != DType::F64 {
        return contiguous_copy(tensor);
    }
    let mut sign = || {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if *seed >> 63 == 0 { 1.0 } else { -1.0 }
    };
    let change: Vec<f64> = elements_as_f64(tensor).into_iter().map(|x| x * (1.0 + sign() * unit)).collect();
    Tensor::from_vec(change, tensor.sizes()).unwrap()
}

/// Returns the elements of a tensor in logical order.
pub(crate) fn elements_as_f64(tensor: &Tensor) -> Vec<f64> {
    let wide = aten::to_dtype(&copy_to_device(tensor, Device::CPU), DType::F64, false, false, None).unwrap();
    contiguous_copy(&wide).to_vec::<f64>().unwrap()
}

#[test]
fn an_error_of_a_few_units_is_outside_of_the_bound() {
    let Some((cuda, _lock)) = crate::lock_first_device() else { return };
    for dtype in [DType::F32, DType::F64, DType::BF16, DType::F16] {
        // The elements are between 1 and 2, so their units are about equal.
        let line: Vec<f64> = (0..256_i32).map(|i| 1.0 + f64::from(i * 37 % 256) / 256.0).collect();
        let numbers =
            copy_to_device(&aten::to_dtype(&Tensor::from_slice(&line), dtype, false, true, None).unwrap(), cuda);
        let doubled_but = |units: f64| {
            results_within_bound(&[&numbers], NudgedArguments::All, |x| {
                let doubled = aten::mul_scalar(&x[0], 2.into())?;
                if doubled.device() == cuda {
                    let wrong = aten::mul_scalar(
                        &aten::narrow(&doubled, 0, 100, 1)?,
                        (1.0 + units * unit_roundoff(dtype)).into(),
                    )?;
                    aten::copy_(&mut aten::narrow(&doubled, 0, 100, 1)?, &wrong, false)?;
                }
                Ok(vec![doubled])
            })
        };
        assert!(doubled_but(0.0).is_ok(), "{dtype}");
        assert!(doubled_but(20.0).unwrap_err().contains(" at 100"), "{dtype}");
    }
}
