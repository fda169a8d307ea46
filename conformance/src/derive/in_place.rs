//! Checks the in-place form of an operator against the recording of the functional form.

use dispatch_runtime::DType;
use dispatch_runtime::Operator;

use super::overlap::{alike, partly_overlapping, with_tensors};
use super::refusal::refused;
use crate::array::Array;
use crate::case::{Case, call};
use crate::compare::{Extent, compare_all};
use crate::datum::{Datum, to_values};
use crate::error::Result;
use crate::verdict::Verdict;

pub(crate) fn check(case: &Case, form: &'static Operator) -> Vec<Verdict> {
    let (Some(Datum::Array(this)), [Datum::Array(result)]) = (case.arguments.first(), &case.expected[..]) else {
        return vec![Verdict::LeftOut("it does not give one tensor for one tensor")];
    };
    if !case.operator.schema().views().is_empty() {
        return vec![Verdict::LeftOut("its twin changes the geometry")];
    }
    verdicts(case, form, this, result).unwrap_or_else(|error| vec![error.into()])
}

fn verdicts(case: &Case, form: &'static Operator, this: &Array, result: &Array) -> Result<Vec<Verdict>> {
    let culprit = form.schema().arguments[0].name.as_str();
    let mistake = |mistake: &str| -> Result<Vec<Verdict>> {
        Ok(vec![refused(form, to_values(&case.arguments, case.device)?, mistake, &[culprit])])
    };
    if this.sizes != result.sizes {
        return mistake("an in-place result of another shape");
    }
    if rank(result.dtype) > rank(this.dtype) {
        return mistake("an in-place result of a dtype that cannot be cast back");
    }
    if this.overlaps_itself() {
        return mistake("a written argument that overlaps itself");
    }
    if this.dtype != result.dtype {
        return Ok(vec![Verdict::LeftOut("its result is cast")]);
    }
    let expected = Datum::Array(Array { strides: this.strides.clone(), ..result.clone() });
    let derived = case.derived(form, case.arguments.clone(), vec![expected]);
    let mut verdicts = vec![derived.verdict(Extent::All).of("in place")];
    for other in alike(case, this).into_iter().filter(|&i| i > 0) {
        verdicts.extend(over_itself(case, form, other)?);
        if let Some((written, read)) = partly_overlapping(case, this)? {
            let values = with_tensors(to_values(&case.arguments, case.device)?, &[(0, &written), (other, &read)]);
            let other = form.schema().arguments[other].name.as_str();
            verdicts.push(refused(form, values, "arguments that overlap in part", &[culprit, other]));
        }
    }
    Ok(verdicts)
}

/// Checks the in-place call in which another argument is the written tensor itself. The result must equal that of a call with a copy.
fn over_itself(case: &Case, form: &'static Operator, other: usize) -> Result<Option<Verdict>> {
    let mut arguments = case.arguments.clone();
    arguments[other] = arguments[0].clone();
    let Ok(expected) = case.call(&arguments) else { return Ok(None) };
    // A device may report wrong elements only at synchronization.
    let Ok(expected) = Datum::read(&expected.results[0]) else { return Ok(None) };
    let values = to_values(&arguments, case.device)?;
    let Some(written) = values[0].as_tensor().cloned() else { return Ok(None) };
    let values = with_tensors(values, &[(other, &written)]);
    let name = &form.schema().arguments[other].name;
    let variant = format!("in place, with `{name}` the written tensor itself");
    let compared = call(form, values).and_then(|outcome| {
        let actual = Datum::read(&outcome.results[0])?;
        Ok(compare_all(outcome.known(Extent::Values), [&actual], [&expected])?)
    });
    Ok(Some(Verdict::from(compared).of(variant)))
}

/// Returns the rank of a dtype's category: a dtype can be cast to dtypes of the same or a higher rank.
pub(super) fn rank(dtype: DType) -> u8 {
    if dtype.is_complex() {
        3
    } else if dtype.is_floating() {
        2
    } else {
        u8::from(dtype.is_integral())
    }
}
