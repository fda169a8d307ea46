//! Checks gradients of recorded calls against the recorded gradients.

use super::differentiated::{Inputs, cosines, differentiable};
use super::exceptions;
use crate::case::{Case, Recorded};
use crate::compare::{Extent, compare_to};
use crate::datum::Datum;
use crate::ties;
use crate::verdict::{Failure, Stop, Verdict, invoke};

/// Checks the gradients of a call. Returns `None` if no gradients were recorded.
pub(crate) fn check(case: &Case) -> Option<Verdict> {
    let recorded = case.gradients.as_ref()?;
    if case.is_arbitrary() {
        return Some(Verdict::LeftOut("its results are arbitrary"));
    }
    Some(compared(case, recorded).unwrap_or_else(Verdict::from))
}

fn compared(case: &Case, recorded: &Recorded) -> Result<Verdict, Stop> {
    if let Some(reason) = exceptions::recorded(case) {
        return Ok(Verdict::LeftOut(reason));
    }
    let inputs = Inputs::with(case, &recorded.arguments)?;
    let (actual, expected) = (inputs.leaves.len(), recorded.gradients.len());
    if actual != expected {
        return Err(Stop::Failed(Failure::Results { actual, expected }));
    }
    let all = invoke(case.operator, inputs.values.clone())?;
    if let Some(indices) = ties::free_indices(case.operator.name(), case.operator.schema(), &case.arguments)
        && compare_to(Extent::Values, &Datum::read(&all[indices])?, &case.expected[indices]).is_err()
    {
        return Ok(Verdict::LeftOut("it may choose others among equal elements"));
    }
    let results = differentiable(&all);
    let seeds: Vec<_> = results.iter().map(cosines).collect();
    let gradients = inputs.gradients(&results, &seeds)?;
    inputs.compare(&gradients, &recorded.gradients)?;
    Ok(Verdict::Passed)
}
