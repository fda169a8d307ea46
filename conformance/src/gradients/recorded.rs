//! The recorded call again, and the gradients that were recorded with it.

use super::differentiated::{Inputs, cosines};
use crate::case::{ARBITRARY, Case};
use crate::verdict::{Failure, Stop, Verdict};

/// Nothing where no gradients were recorded.
pub(crate) fn check(case: &Case) -> Option<Verdict> {
    if case.gradients.is_empty() {
        return None;
    }
    if ARBITRARY.contains(&case.operator.name().base) {
        return Some(Verdict::LeftOut("its results are arbitrary"));
    }
    Some(compared(case).map_or_else(Verdict::from, |()| Verdict::Passed))
}

fn compared(case: &Case) -> Result<(), Stop> {
    let inputs = Inputs::of(case)?;
    let (actual, expected) = (inputs.leaves.len(), case.gradients.len());
    if actual != expected {
        return Err(Stop::Failed(Failure::Results { actual, expected }));
    }
    let results = inputs.call(case.operator)?;
    let seeds: Vec<_> = results.iter().map(cosines).collect();
    let gradients = inputs.gradients(&results, &seeds)?;
    inputs.compare(&gradients, &case.gradients)
}
