//! Large calls: checks with more elements than any recording has. Narrow counters, sums that lose small terms, and partial results that are
//! combined wrongly do not show with few elements.
//!
//! The expected results are combined from calls of the same operator on the host, in double precision or `i64`, with at most
//! `MAX_TRUSTED_ELEMENTS` elements each: the recordings cover such calls. For example, a sum is the sum of partial sums. If results cannot
//! be combined, they follow from the construction of the input or from a plain loop: for stable sorts, for reads and writes at indices,
//! and for normalisations.
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

use dispatch_checks::plumbing::{CallError, Datum};
use dispatch_checks::{Failure, Verdict};
use dispatch_runtime::{DType, Device, Operator, Value};

use self::input::{DTypeCategory, LONG_LINE_LAYOUTS, LineLayout, OTHER_LINE_LAYOUTS};
use self::trial::{LargeTrial, is_dtype_error};
use crate::decode;
use crate::recording::Call;
use crate::suite::TestTarget;

pub use coverage::uncovered_operators;

/// The largest number of elements of a call whose result is trusted.
const MAX_TRUSTED_ELEMENTS: usize = 100;

/// The layouts of large inputs.
type LineLayouts = &'static [LineLayout];

/// A family: operators whose large calls are created by one function.
struct TrialFamily {
    names: &'static [&'static str],
    /// The categories of numbers that the operators accept.
    kinds: &'static [DTypeCategory],
    /// Creates the trials of an operator for inputs of a category, in these layouts.
    trials: fn(&'static Operator, DTypeCategory, LineLayouts) -> Result<Vec<LargeTrial>, CallError>,
}

/// Families whose operators work along lines of [`LineLayout`].
const LINE_FAMILIES: [TrialFamily; 8] = [
    reduction::REDUCTION_FAMILY,
    variance::VARIANCE_FAMILY,
    min_max::MIN_MAX_FAMILY,
    scan::SCAN_FAMILY,
    softmax::SOFTMAX_FAMILY,
    sort::SORT_FAMILY,
    gather::GATHER_FAMILY,
    scatter::SCATTER_FAMILY,
];

/// Families that choose the sizes of their inputs themselves.
const OWN_SIZE_FAMILIES: [TrialFamily; 4] =
    [histogram::HISTOGRAM_FAMILY, pooling::POOLING_FAMILY, segment_reduce::SEGMENT_REDUCE_FAMILY, norm::NORM_FAMILY];

/// Whether an operator has large calls.
fn has_large_calls(name: &str) -> bool {
    LINE_FAMILIES.iter().chain(&OWN_SIZE_FAMILIES).any(|family| family.names.contains(&name))
}

/// Runs the large calls of an operator in every dtype, and in one dtype with the other layouts, and checks their results. A sampled target uses one dtype of each
/// category. A dtype may be refused only if no recorded call has it.
pub(crate) fn check(operator: &'static Operator, target: TestTarget<'_>, calls: &[Call]) -> Vec<Verdict> {
    let TestTarget { device, without, is_sampled, .. } = target;
    let name = operator.name().to_string();
    if !has_large_calls(&name) {
        return Vec::new();
    }
    let mut collector =
        VerdictCollector { recorded: recorded_input_dtypes(operator, calls), verdicts: Vec::new(), refused: None };
    for kind in DTypeCategory::ALL {
        let dtypes = kind.dtypes();
        let mut plans = vec![(LONG_LINE_LAYOUTS, if is_sampled { &dtypes[..1] } else { dtypes })];
        if kind == DTypeCategory::Real && !is_sampled {
            plans.push((OTHER_LINE_LAYOUTS, &dtypes[..1]));
        }
        for (layouts, dtypes) in plans {
            let dtypes: Vec<DType> = dtypes.iter().copied().filter(|dtype| !without.contains(dtype)).collect();
            if dtypes.is_empty() {
                continue;
            }
            let others = if layouts.len() == LONG_LINE_LAYOUTS.len() { &OWN_SIZE_FAMILIES[..] } else { &[] };
            let families = LINE_FAMILIES.iter().chain(others);
            for family in families.filter(|family| family.names.contains(&&*name) && family.kinds.contains(&kind)) {
                match (family.trials)(operator, kind, layouts) {
                    Ok(trials) => dtypes.iter().for_each(|&dtype| {
                        let made = trials.iter().map(|trial| run_with_label(trial, operator, dtype, device));
                        collector.add_results(&[dtype], made.collect());
                    }),
                    Err(error) => collector.add_results(&dtypes, vec![Err(error)]),
                }
            }
        }
    }
    collector.into_verdicts()
}

/// Collects the verdicts of an operator's large calls.
struct VerdictCollector {
    /// The dtypes of recorded calls.
    recorded: Vec<DType>,
    verdicts: Vec<Verdict>,
    /// The last refusal of a dtype that no recorded call has.
    refused: Option<CallError>,
}

impl VerdictCollector {
    /// Adds the results of all calls of a family in these dtypes. Some calls may be refused because of the dtype. But if a recorded call
    /// has one of the dtypes, a refusal of all calls is a failure.
    fn add_results(&mut self, dtypes: &[DType], results: Vec<Result<(), CallError>>) {
        let are_refused = |result: &Result<(), CallError>| result.as_ref().is_err_and(is_dtype_error);
        let is_missing = results.iter().all(are_refused) && dtypes.iter().any(|dtype| self.recorded.contains(dtype));
        for result in results.into_iter().take(if is_missing { 1 } else { usize::MAX }) {
            match result {
                Err(error) if is_dtype_error(&error) && !is_missing => self.refused = Some(error),
                Err(error) => self.verdicts.push(Verdict::from(error).with_context(dtypes[0].to_string())),
                Ok(()) => self.verdicts.push(Verdict::Passed),
            }
        }
    }

    /// Ends the collection, and returns the verdicts of all large calls. An operator that was refused in every dtype
    /// gets the verdict of the refusal.
    fn into_verdicts(self) -> Vec<Verdict> {
        let Self { verdicts, refused, .. } = self;
        if verdicts.is_empty() { refused.map(Verdict::from).into_iter().collect() } else { verdicts }
    }
}

/// Returns the dtypes of the first tensor of an operator's recorded calls, without calls that have a `dtype` argument.
fn recorded_input_dtypes(operator: &Operator, calls: &[Call]) -> Vec<DType> {
    let (schema, name) = (operator.schema(), operator.name().to_string());
    let converts = |data: &[Datum]| {
        let dtype = schema.argument("dtype").and_then(|(at, _)| data.get(at));
        dtype.is_some_and(|dtype| !matches!(dtype, Datum::NonTensor(Value::None)))
    };
    let of_call = |call: &Call| {
        let data = decode::decode_arguments(call, schema).ok()?;
        let first = data.iter().flat_map(Datum::arrays).next()?.dtype;
        (!converts(&data)).then_some(first)
    };
    let mut dtypes: Vec<DType> = calls.iter().filter(|call| call.operator == name).filter_map(of_call).collect();
    dtypes.sort_unstable_by_key(|dtype| format!("{dtype:?}"));
    dtypes.dedup();
    dtypes
}

/// Makes a call in a dtype. The failure of a wrong result has the label of the call.
fn run_with_label(
    trial: &LargeTrial,
    operator: &'static Operator,
    dtype: DType,
    device: Device,
) -> Result<(), CallError> {
    trial.run(operator, dtype, device).map_err(|error| match error {
        CallError::Failed(failure) if !is_refusal(&failure) => {
            CallError::Failed(Failure::InDerivedCall { variant: trial.label.clone(), failure: Box::new(failure) })
        }
        other => other,
    })
}

const fn is_refusal(failure: &Failure) -> bool {
    matches!(failure, Failure::Refused(_))
}
