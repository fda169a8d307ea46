//! Calls with more elements than any recording has. A counter that is too narrow, a sum that loses what is small, and parts that are put
//! together wrongly do not show in a few elements.
//!
//! What must come out is put together from calls of the same operator on the CPU with at most `FEW` elements each, in double precision
//! or in `i64`, which the recordings vouch for, by what is known of the operator: a sum is the sum of sums. Where that says nothing,
//! results follow from how the input is made, or from one plain loop for an engine: a stable sort, reading and writing at positions, and
//! the formula of normalisations.
//!
//! Numbers are small and whole, so every dtype holds them, and sums of them are exact.

mod counts;
mod coverage;
mod extremes;
mod folds;
mod input;
mod moments;
mod normalized;
mod orders;
mod places;
mod scans;
mod segments;
mod softmaxes;
mod trial;
mod windows;
mod writes;

use dispatch_runtime::{DType, Device, Operator};

use self::input::{FEW_LINES, Kind, Lines, OTHER_LINES};
use self::trial::{Trial, is_about_dtype};
use crate::verdict::{Failure, Stop, Verdict};

pub use coverage::uncovered;

/// How many elements a call may have that is believed.
const FEW: usize = 100;

/// How large inputs lie in memory.
type Layouts = &'static [Lines];

/// What a family makes of an operator that it knows: its trials for inputs of this kind, in these layouts.
type Family = fn(&'static Operator, Kind, Layouts) -> Result<Vec<Trial>, Stop>;

/// Families whose inputs lie in lines.
const OF_LINES: [Family; 8] = [
    folds::trials,
    moments::trials,
    extremes::trials,
    scans::trials,
    softmaxes::trials,
    orders::trials,
    places::trials,
    writes::trials,
];

/// Families whose inputs have sizes of their own.
const OTHERS: [Family; 4] = [counts::trials, windows::trials, segments::trials, normalized::trials];

/// Whether there is a trial of this operator.
fn is_covered(name: &str) -> bool {
    let names: [&[&str]; 12] = [
        folds::NAMES,
        moments::NAMES,
        extremes::NAMES,
        scans::NAMES,
        softmaxes::NAMES,
        orders::NAMES,
        counts::NAMES,
        windows::NAMES,
        places::NAMES,
        writes::NAMES,
        segments::NAMES,
        normalized::NAMES,
    ];
    names.iter().any(|names| names.contains(&name))
}

/// Makes the large calls of an operator, in every dtype that it has: those in other layouts in one dtype. On a device that is slow, in one
/// dtype of each kind.
pub(crate) fn check(operator: &'static Operator, device: Device, without: &[DType]) -> Vec<Verdict> {
    if !is_covered(&operator.name().to_string()) {
        return Vec::new();
    }
    let (mut verdicts, mut refused) = (Vec::new(), None);
    for kind in Kind::ALL {
        let dtypes = kind.dtypes();
        let mut plans = vec![(FEW_LINES, if device == Device::CPU { dtypes } else { &dtypes[..1] })];
        if kind == Kind::Real && device == Device::CPU {
            plans.push((OTHER_LINES, &dtypes[..1]));
        }
        for (layouts, dtypes) in plans {
            let mut results = Vec::new();
            let mut trials = Vec::new();
            let others = if layouts.len() == FEW_LINES.len() { &OTHERS[..] } else { &[] };
            for family in OF_LINES.iter().chain(others) {
                match family(operator, kind, layouts) {
                    Ok(made) => trials.extend(made),
                    Err(stop) => results.push((dtypes[0], Err(stop))),
                }
            }
            for (number, &dtype) in dtypes.iter().enumerate().filter(|(_, dtype)| !without.contains(dtype)) {
                // Of several trials, each further dtype has every other one.
                let is_due = |&at: &usize| number == 0 || trials.len() == 1 || at % 2 == number % 2;
                let due = (0..trials.len()).filter(is_due);
                results.extend(due.map(|at| (dtype, labelled(&trials[at], operator, dtype, device))));
            }
            for (dtype, result) in results {
                match result {
                    Err(stop) if is_about_dtype(&stop) => refused = Some(stop),
                    Err(stop) => verdicts.push(Verdict::from(stop).of(dtype.to_string())),
                    Ok(()) => verdicts.push(Verdict::Passed),
                }
            }
        }
    }
    // An operator that has no dtype at all is refused for a reason that the suite got wrong.
    if verdicts.is_empty() { refused.map(Verdict::from).into_iter().collect() } else { verdicts }
}

/// Makes a call in a dtype. A wrong result is named after the call.
fn labelled(trial: &Trial, operator: &'static Operator, dtype: DType, device: Device) -> Result<(), Stop> {
    trial.run(operator, dtype, device).map_err(|stop| match stop {
        Stop::Failed(failure) if !is_refusal(&failure) => {
            Stop::Failed(Failure::Derived { variant: trial.label.clone(), failure: Box::new(failure) })
        }
        other => other,
    })
}

const fn is_refusal(failure: &Failure) -> bool {
    matches!(failure, Failure::Refused(_))
}
