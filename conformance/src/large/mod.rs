//! Large calls: checks with more elements than any recording has. Narrow counters, sums that lose small terms, and partial results that are
//! combined wrongly do not show with few elements.
//!
//! The expected results are combined from calls of the same operator on the host, in double precision or `i64`, with at most `FEW` elements
//! each: the recordings cover such calls. For example, a sum is the sum of partial sums. If results cannot be combined, they follow from
//! the construction of the input or from a plain loop: for stable sorts, for reads and writes at indices, and for normalisations.
//!
//! Elements are small integers: every dtype represents them, and their sums are exact.

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

/// The largest number of elements of a call whose result is trusted.
const FEW: usize = 100;

/// The layouts of large inputs.
type Layouts = &'static [Lines];

/// Operators whose large calls are created in the same way.
struct Family {
    names: &'static [&'static str],
    /// The categories of numbers that the operators accept.
    kinds: &'static [Kind],
    /// Creates the trials of an operator for inputs of a category, in these layouts.
    trials: fn(&'static Operator, Kind, Layouts) -> Result<Vec<Trial>, Stop>,
}

/// Families whose operators work along lines of [`Lines`].
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

/// Families that choose the sizes of their inputs themselves.
const OTHERS: [Family; 4] = [histogram::FAMILY, pooling::FAMILY, segment_reduce::FAMILY, norm::FAMILY];

/// Whether an operator has large calls.
fn is_covered(name: &str) -> bool {
    OF_LINES.iter().chain(&OTHERS).any(|family| family.names.contains(&name))
}

/// Makes the large calls of an operator in every dtype, and in one dtype with the other layouts. A sampled target uses one dtype of each
/// category. A dtype may be refused only if no recorded call has it.
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

/// Collects the verdicts of an operator's large calls.
struct Judge {
    /// The dtypes of recorded calls.
    recorded: Vec<DType>,
    verdicts: Vec<Verdict>,
    /// The last refusal of a dtype that no recorded call has.
    refused: Option<Stop>,
}

impl Judge {
    /// Adds the results of all calls of a family in these dtypes. Some calls may be refused because of the dtype. But if a recorded call
    /// has one of the dtypes, a refusal of all calls is a failure.
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

    /// Returns the verdicts. An operator that was refused in every dtype gets the verdict of the refusal.
    fn finish(self) -> Vec<Verdict> {
        let Self { verdicts, refused, .. } = self;
        if verdicts.is_empty() { refused.map(Verdict::from).into_iter().collect() } else { verdicts }
    }
}

/// Returns the dtypes of the first tensor of an operator's recorded calls, without calls that have a `dtype` argument.
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

/// Makes a call in a dtype. The failure of a wrong result has the label of the call.
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
