//! Checks gradients of recorded calls against the recorded gradients.

use super::differentiable_inputs::{DifferentiableInputs, differentiable_tensors, recorded_cotangents};
use super::exemptions;
use crate::compare::{ComparedProperties, compare_properties};
use crate::datum::Datum;
use crate::reference_call::ReferenceCall;
use crate::ties;
use crate::verdict::{CallError, Failure, Verdict, call_catching_panics};

/// Checks the gradients of a call. Returns `None` if no gradients were recorded.
pub(crate) fn check(case: &ReferenceCall) -> Option<Verdict> {
    let (arguments, gradients) = (case.gradient_arguments.as_ref()?, case.gradients.as_ref()?);
    if case.is_unpredictable() {
        return Some(Verdict::NotApplicable("its results are unpredictable"));
    }
    Some(compare_with_recording(case, arguments, gradients).unwrap_or_else(Verdict::from))
}

fn compare_with_recording(
    case: &ReferenceCall,
    arguments: &[Datum],
    recorded: &[Option<Vec<f64>>],
) -> Result<Verdict, CallError> {
    if let Some(reason) = exemptions::imprecise_recording_reason(case) {
        return Ok(Verdict::NotApplicable(reason));
    }
    let inputs = DifferentiableInputs::from_arguments(case, arguments)?;
    let (actual, expected) = (inputs.leaves.len(), recorded.len());
    if actual != expected {
        return Err(CallError::Failed(Failure::WrongResultCount { actual, expected }));
    }
    let all = call_catching_panics(case.operator, inputs.values.clone())?;
    if let Some(indices) = ties::ambiguous_index_result(case.operator.name(), case.operator.schema(), &case.arguments)
        && compare_properties(
            ComparedProperties::AllButStrides,
            &Datum::from_value(&all[indices])?,
            &case.expected[indices],
        )
        .is_err()
    {
        return Ok(Verdict::NotApplicable("it may select another of several equal elements"));
    }
    let read = all.iter().map(Datum::from_value).collect::<Result<Vec<_>, _>>()?;
    if case.has_other_representative(&read) {
        return Ok(Verdict::NotApplicable("its results are unique only up to sign, phase or order"));
    }
    let gradients = inputs.gradients(&differentiable_tensors(&all)?, &recorded_cotangents(&all))?;
    inputs.compare_gradients(&gradients, recorded)?;
    Ok(Verdict::Passed)
}
