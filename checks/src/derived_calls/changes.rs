//! Checks calls with arguments of other dtypes and sizes.
//!
//! An operator may refuse such a call with an error, but it must not panic. If it accepts the call, Meta must accept it too, with the same
//! dtypes, sizes and strides. In each floating-point dtype, the results must be those of double precision, rounded.

use dispatch_runtime::{DType, Scalar};

use crate::array::Array;
use crate::compare::{ComparedProperties, Tolerance, compare_properties, first_difference};
use crate::datum::Datum;
use crate::meta;
use crate::reference_call::{Outcome, ReferenceCall};
use crate::tensors::{round_to_dtype, to_complex};
use crate::verdict::{CallError, Failure, Verdict};

/// The dtypes that each tensor gets in turn.
const DTYPES: [DType; 9] =
    [DType::F64, DType::F32, DType::F16, DType::BF16, DType::I64, DType::I32, DType::U8, DType::Bool, DType::C64];

/// The floating-point dtypes that all tensors get at once, with the rounding error of each.
const PRECISIONS: [(DType, f64); 3] =
    [(DType::F32, 1.0 / 8_388_608.0), (DType::F16, 1.0 / 1024.0), (DType::BF16, 1.0 / 128.0)];

/// The allowed error of a result, in rounding errors of the largest element.
const ALLOWED_ROUNDING_ERRORS: f64 = 64.0;

pub(crate) fn check(case: &ReferenceCall) -> Vec<Verdict> {
    let mut verdicts: Vec<Verdict> =
        PRECISIONS.iter().filter_map(|&(dtype, unit)| check_precision(case, dtype, unit)).collect();
    for (position, datum) in case.arguments.iter().enumerate() {
        let Some(array) = datum.as_array() else { continue };
        let name = &case.operator.schema().arguments[position].name;
        for dtype in DTYPES.into_iter().filter(|dtype| *dtype != array.dtype) {
            let verdict = check_changed_argument(case, position, array.with_dtype(dtype));
            verdicts.push(verdict.with_context(format!("with `{name}` of {dtype}")));
        }
        for sizes in other_sizes(&array.sizes) {
            let verdict = check_changed_argument(case, position, with_sizes(array, &sizes));
            verdicts.push(verdict.with_context(format!("with `{name}` of sizes {sizes:?}")));
        }
    }
    verdicts
}

/// Makes the call with one argument replaced.
fn check_changed_argument(case: &ReferenceCall, position: usize, array: Array) -> Verdict {
    let mut arguments = case.arguments.clone();
    arguments[position] = Datum::Array(array);
    match case.call(&arguments) {
        Ok(outcome) => compare_with_meta(case, &arguments, &outcome).into(),
        Err(CallError::Failed(Failure::Refused(_)) | CallError::NotImplemented(_)) => Verdict::Passed,
        Err(error) => error.into(),
    }
}

fn compare_with_meta(case: &ReferenceCall, arguments: &[Datum], outcome: &Outcome) -> Result<(), Failure> {
    if meta::depends_on_data(case.operator, arguments) {
        return Ok(());
    }
    let planned = match meta::call_on_meta(case.operator, arguments) {
        Ok(planned) => planned,
        Err(CallError::NotImplemented(_)) => return Ok(()),
        Err(CallError::Failed(Failure::Refused(error))) => return Err(Failure::RefusedOnMeta(error)),
        Err(CallError::Failed(failure)) => return Err(failure),
    };
    for (index, (planned, result)) in planned.iter().zip(&outcome.results).enumerate() {
        let actual = meta::to_datum_without_elements(result);
        // A tensor without elements has no order of elements in memory.
        let is_empty = actual.arrays().iter().any(|array| array.sizes.contains(&0));
        let properties = if is_empty { ComparedProperties::DTypeAndSizes } else { ComparedProperties::AllButElements };
        compare_properties(properties, &actual, planned)
            .map_err(|difference| Failure::WrongResult { index, difference })?;
    }
    Ok(())
}

/// Compares the call in a floating-point dtype with the call in double precision. Returns `None` if the operator refuses one of them.
fn check_precision(case: &ReferenceCall, dtype: DType, unit: f64) -> Option<Verdict> {
    let has_floats = case.arguments.iter().flat_map(Datum::arrays).any(|array| array.dtype.is_floating());
    if !has_floats || case.is_unpredictable() {
        return None;
    }
    let rounded = case.arguments.iter().map(|datum| with_float_dtype(datum, dtype)).collect::<Option<Vec<_>>>()?;
    let double = rounded.iter().map(|datum| with_float_dtype(datum, DType::F64)).collect::<Option<Vec<_>>>()?;
    let verdict = match case.call(&rounded) {
        Ok(outcome) => {
            let expected = case.call(&double).ok()?;
            Verdict::from(compare_rounded(&outcome, &expected, dtype, unit))
        }
        Err(CallError::Failed(Failure::Refused(_)) | CallError::NotImplemented(_)) => return None,
        Err(error) => error.into(),
    };
    Some(verdict.with_context(format!("in {dtype}")))
}

/// Returns a datum with its floating-point elements rounded to a dtype.
fn with_float_dtype(datum: &Datum, dtype: DType) -> Option<Datum> {
    let mut is_complete = true;
    let rounded = datum.map_arrays(|array| {
        if !array.dtype.is_floating() {
            return array.clone();
        }
        round_to_dtype(&array.with_dtype(dtype)).unwrap_or_else(|_| {
            is_complete = false;
            array.clone()
        })
    });
    is_complete.then_some(rounded)
}

/// Compares the results of this dtype with those of double precision, in rounding errors of their largest element.
fn compare_rounded(actual: &Outcome, expected: &Outcome, dtype: DType, unit: f64) -> Result<(), CallError> {
    for (index, (actual, expected)) in actual.results.iter().zip(&expected.results).enumerate() {
        let (actual, expected) = (Datum::from_value(actual)?, Datum::from_value(expected)?);
        for (actual, expected) in actual.arrays().into_iter().zip(expected.arrays()) {
            if actual.dtype != dtype || expected.dtype != DType::F64 || actual.sizes != expected.sizes {
                continue;
            }
            let largest = expected.elements.iter().map(|&x| to_complex(x).norm()).fold(0.0, f64::max);
            let expected = round_to_dtype(&expected.with_dtype(dtype))?;
            // An element outside of the range of the dtype is infinite, and a sum of such elements may be NaN.
            let is_finite = |x: &Scalar| to_complex(*x).is_finite();
            if !expected.elements.iter().all(is_finite) {
                continue;
            }
            let tolerance = Tolerance { relative: 0.0, absolute: ALLOWED_ROUNDING_ERRORS * unit * largest };
            if let Some(difference) = first_difference(tolerance, &actual.elements, &expected.elements) {
                return Err(Failure::WrongResult { index, difference }.into());
            }
        }
    }
    Ok(())
}

/// Returns other sizes: one more dimension, one less, a longer and an empty dimension.
fn other_sizes(sizes: &[i64]) -> Vec<Vec<i64>> {
    let mut all = vec![[&[2], sizes].concat()];
    if let Some((&last, before)) = sizes.split_last() {
        all.push(sizes[1..].to_vec());
        all.push([before, &[last + 1]].concat());
        all.push([before, &[0]].concat());
    }
    all
}

/// Returns a contiguous array with other sizes: the elements in order, repeated if there are too few.
fn with_sizes(array: &Array, sizes: &[i64]) -> Array {
    let count = usize::try_from(sizes.iter().product::<i64>()).unwrap_or(0);
    let mut elements: Vec<Scalar> = array.elements.iter().copied().cycle().take(count).collect();
    elements.resize(count, Scalar::Int(1));
    Array::new(array.dtype, sizes, elements)
}
