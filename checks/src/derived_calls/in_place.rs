//! Checks the in-place form of an operator against the outcome of the functional form.

use dispatch_runtime::DType;
use dispatch_runtime::Operator;

use super::overlapping_arguments::{overlapping_tensors, same_shape_arguments, with_tensors_at};
use super::refusal::check_call_is_refused;
use crate::array::Array;
use crate::compare::{ComparedProperties, compare_results};
use crate::datum::{Datum, create_values};
use crate::error::Result;
use crate::reference_call::{ReferenceCall, call_and_check_aliasing};
use crate::verdict::Verdict;

pub(crate) fn check(case: &ReferenceCall, form: &'static Operator) -> Vec<Verdict> {
    let (Some(Datum::Array(this)), [Datum::Array(result)]) = (case.arguments.first(), &case.expected[..]) else {
        return vec![Verdict::NotApplicable("it does not return one tensor for one tensor")];
    };
    if !case.operator.schema().views().is_empty() {
        return vec![Verdict::NotApplicable("its functional form returns a view")];
    }
    check_in_place_form(case, form, this, result).unwrap_or_else(|error| vec![error.into()])
}

fn check_in_place_form(
    case: &ReferenceCall,
    form: &'static Operator,
    this: &Array,
    result: &Array,
) -> Result<Vec<Verdict>> {
    let argument_to_name = form.schema().arguments[0].name.as_str();
    let mistake = |mistake: &str| -> Result<Vec<Verdict>> {
        Ok(vec![check_call_is_refused(
            form,
            create_values(&case.arguments, case.device)?,
            mistake,
            &[argument_to_name],
        )])
    };
    if this.sizes != result.sizes {
        return mistake("an in-place result of another shape");
    }
    if dtype_category_rank(result.dtype) > dtype_category_rank(this.dtype) {
        return mistake("an in-place result of a dtype that cannot be cast back");
    }
    if this.overlaps_itself() {
        return mistake("a written argument that overlaps itself");
    }
    if this.dtype != result.dtype {
        return Ok(vec![Verdict::NotApplicable("its result is cast")]);
    }
    let expected = Datum::Array(Array { strides: this.strides.clone(), ..result.clone() });
    let derived = case.derived_call(form, case.arguments.clone(), vec![expected]);
    let mut verdicts = vec![derived.check(ComparedProperties::All).with_context("in place")];
    for other in same_shape_arguments(case, this).into_iter().filter(|&i| i > 0) {
        verdicts.extend(check_written_as_argument(case, form, other)?);
        if let Some((written, read)) = overlapping_tensors(case, this)? {
            let values =
                with_tensors_at(create_values(&case.arguments, case.device)?, &[(0, &written), (other, &read)]);
            let other = form.schema().arguments[other].name.as_str();
            verdicts.push(check_call_is_refused(
                form,
                values,
                "arguments that overlap in part",
                &[argument_to_name, other],
            ));
        }
    }
    Ok(verdicts)
}

/// Checks the in-place call in which another argument is the written tensor itself. The result must equal that of a call with a copy.
fn check_written_as_argument(case: &ReferenceCall, form: &'static Operator, other: usize) -> Result<Option<Verdict>> {
    let mut arguments = case.arguments.clone();
    arguments[other] = arguments[0].clone();
    let Ok(expected) = case.call(&arguments) else { return Ok(None) };
    // A device may report wrong elements only at synchronization.
    let Ok(expected) = Datum::from_value(&expected.results[0]) else { return Ok(None) };
    let values = create_values(&arguments, case.device)?;
    let Some(written) = values[0].as_tensor().cloned() else { return Ok(None) };
    let values = with_tensors_at(values, &[(other, &written)]);
    let name = &form.schema().arguments[other].name;
    let variant = format!("in place, with `{name}` the written tensor itself");
    let compared = call_and_check_aliasing(form, values).and_then(|outcome| {
        let actual = Datum::from_value(&outcome.results[0])?;
        Ok(compare_results(outcome.comparable_properties(ComparedProperties::AllButStrides), [&actual], [&expected])?)
    });
    Ok(Some(Verdict::from(compared).with_context(variant)))
}

/// Returns the rank of a dtype's category: a dtype can be cast to dtypes of the same or a higher rank.
pub(super) fn dtype_category_rank(dtype: DType) -> u8 {
    if dtype.is_complex() {
        3
    } else if dtype.is_floating() {
        2
    } else {
        u8::from(dtype.is_integral())
    }
}
