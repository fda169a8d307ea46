//! Calls with more elements than any recording has. A counter that is too narrow, a sum that loses what is small, and parts that are put
//! together wrongly do not show in a few elements.
//!
//! What must come out is put together from calls of the same operator on the host with at most `FEW` elements each, in double precision
//! or in `i64`, which the recordings vouch for, by what is known of the operator: a sum is the sum of sums. Where that says nothing,
//! results follow from how the input is made, or from one plain loop for an engine: a stable sort, reading and writing at positions, and
//! the formula of normalisations.
//!
//! Numbers are small and whole, so every dtype holds them, and sums of them are exact.

mod coverage;
mod gather;
mod histogram;
mod input;
mod min_max;
mod norm;
mod pooling;
mod reduction;
mod scan;
mod scatter;
mod segment_reduce;
mod softmax;
mod sort;
mod trial;
mod variance;

use dispatch_runtime::{DType, Device, Operator, Value};

use self::input::{FEW_LINES, Kind, Lines, OTHER_LINES};
use self::trial::{Trial, is_about_dtype};
use crate::datum::Datum;
use crate::decode;
use crate::recording::Call;
use crate::suite::Target;
use crate::verdict::{Failure, Stop, Verdict};

pub use coverage::uncovered;

/// How many elements a call may have that is believed.
const FEW: usize = 100;

/// How large inputs lie in memory.
type Layouts = &'static [Lines];

/// Operators whose large calls are made in the same way.
struct Family {
    names: &'static [&'static str],
    /// The kinds of numbers that they take.
    kinds: &'static [Kind],
    /// The trials of an operator for inputs of a kind, in these layouts.
    trials: fn(&'static Operator, Kind, Layouts) -> Result<Vec<Trial>, Stop>,
}

/// Families whose inputs lie in lines.
const OF_LINES: [Family; 8] = [
    reduction::FAMILY,
    variance::FAMILY,
    min_max::FAMILY,
    scan::FAMILY,
    softmax::FAMILY,
    sort::FAMILY,
    gather::FAMILY,
    scatter::FAMILY,
];

/// Families whose inputs have sizes of their own.
const OTHERS: [Family; 4] = [histogram::FAMILY, pooling::FAMILY, segment_reduce::FAMILY, norm::FAMILY];

/// Whether there is a trial of this operator.
fn is_covered(name: &str) -> bool {
    OF_LINES.iter().chain(&OTHERS).any(|family| family.names.contains(&name))
}

/// Makes the large calls of an operator, in every dtype that it has: those in other layouts in one dtype. If the target is sampled, in one
/// dtype of each kind. A dtype that is refused must be one that no recorded call has.
pub(crate) fn check(operator: &'static Operator, target: Target<'_>, calls: &[Call]) -> Vec<Verdict> {
    let Target { device, without, is_sampled, .. } = target;
    let name = operator.name().to_string();
    if !is_covered(&name) {
        return Vec::new();
    }
    let mut judge = Judge { recorded: recorded_dtypes(operator, calls), verdicts: Vec::new(), refused: None };
    for kind in Kind::ALL {
        let dtypes = kind.dtypes();
        let mut plans = vec![(FEW_LINES, if is_sampled { &dtypes[..1] } else { dtypes })];
        if kind == Kind::Real && !is_sampled {
            plans.push((OTHER_LINES, &dtypes[..1]));
        }
        for (layouts, dtypes) in plans {
            let dtypes: Vec<DType> = dtypes.iter().copied().filter(|dtype| !without.contains(dtype)).collect();
            if dtypes.is_empty() {
                continue;
            }
            let others = if layouts.len() == FEW_LINES.len() { &OTHERS[..] } else { &[] };
            let families = OF_LINES.iter().chain(others);
            for family in families.filter(|family| family.names.contains(&&*name) && family.kinds.contains(&kind)) {
                match (family.trials)(operator, kind, layouts) {
                    Ok(trials) => dtypes.iter().for_each(|&dtype| {
                        let made = trials.iter().map(|trial| labelled(trial, operator, dtype, device));
                        judge.take(&[dtype], made.collect());
                    }),
                    Err(stop) => judge.take(&dtypes, vec![Err(stop)]),
                }
            }
        }
    }
    judge.finish()
}

/// What the results of an operator's calls say about it.
struct Judge {
    /// The dtypes that recorded calls have.
    recorded: Vec<DType>,
    verdicts: Vec<Verdict>,
    /// A refusal of a dtype that no recorded call has.
    refused: Option<Stop>,
}

impl Judge {
    /// Takes the results of all calls of a family in these dtypes. Some of the calls may be refused for their dtype, but not all of them
    /// if a recorded call has one of the dtypes.
    fn take(&mut self, dtypes: &[DType], results: Vec<Result<(), Stop>>) {
        let are_refused = |result: &Result<(), Stop>| result.as_ref().is_err_and(is_about_dtype);
        let is_missing = results.iter().all(are_refused) && dtypes.iter().any(|dtype| self.recorded.contains(dtype));
        for result in results.into_iter().take(if is_missing { 1 } else { usize::MAX }) {
            match result {
                Err(stop) if is_about_dtype(&stop) && !is_missing => self.refused = Some(stop),
                Err(stop) => self.verdicts.push(Verdict::from(stop).of(dtypes[0].to_string())),
                Ok(()) => self.verdicts.push(Verdict::Passed),
            }
        }
    }

    /// An operator that was refused in every dtype fails.
    fn finish(self) -> Vec<Verdict> {
        let Self { verdicts, refused, .. } = self;
        if verdicts.is_empty() { refused.map(Verdict::from).into_iter().collect() } else { verdicts }
    }
}

/// The dtypes that recorded calls of an operator have in their first tensor, if the call is not told to compute in another.
fn recorded_dtypes(operator: &Operator, calls: &[Call]) -> Vec<DType> {
    let (schema, name) = (operator.schema(), operator.name().to_string());
    let converts = |data: &[Datum]| {
        let dtype = schema.argument("dtype").and_then(|(at, _)| data.get(at));
        dtype.is_some_and(|dtype| !matches!(dtype, Datum::Plain(Value::None)))
    };
    let of_call = |call: &Call| {
        let data = decode::arguments(call, schema).ok()?;
        let first = data.iter().flat_map(Datum::arrays).next()?.dtype;
        (!converts(&data)).then_some(first)
    };
    let mut dtypes: Vec<DType> = calls.iter().filter(|call| call.operator == name).filter_map(of_call).collect();
    dtypes.sort_unstable_by_key(|dtype| format!("{dtype:?}"));
    dtypes.dedup();
    dtypes
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
