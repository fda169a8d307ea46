//! Checks of batch rules: compares the call of a batch within `vmap` with the calls of its slices.
//!
//! Each tensor of a reference call becomes a batch: the given tensor, and others that the operator also accepts. Each slice of the
//! results and of the written arguments must equal those of the call of that slice.

mod batch;
mod gradients;
mod mapped_call;
mod randomness;
mod slice_calls;

use std::iter;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dispatch_runtime::{AccessError, BadArgument, Error, Operator, Problem};
use dispatch_vmap::{Randomness, SlowLoops, Strategy, VmapError, set_slow_loops};

use crate::aliasing::{self, version_counters};
use crate::compare::ComparedProperties;
use crate::datum::Datum;
use crate::derived_calls::{self, LAYOUT_SENSITIVE_OPERATORS, OperatorForms};
use crate::known_operators::known_base;
use crate::meta::depends_on_data;
use crate::reference_call::{Outcome, ReferenceCall, returns_uninitialized};
use crate::verdict::{CallError, Failure, Verdict};

use batch::{BatchDimsByLevel, slice_value, stack_slices};
use mapped_call::find_source_of_type;
pub use mapped_call::{call_mapped, replace_tensors};
pub use randomness::check as check_randomness;
use slice_calls::{SliceCalls, slice_number};

/// The batch size of a call that is mapped once, and the two batch sizes of a call that is mapped twice.
const ONE_LEVEL_BATCH_SIZES: &[usize] = &[3];
const TWO_LEVEL_BATCH_SIZES: &[usize] = &[2, 3];
/// One call in this many is mapped twice.
const NESTED_CALL_INTERVAL: usize = 4;

/// Arguments whose elements a composite reads on the host, for example as lengths or to validate them.
const HOST_READ_ARGUMENTS: [(&str, &str); 15] = [
    ("_pack_padded_sequence", "lengths"),
    ("_pad_packed_sequence", "batch_sizes"),
    ("_reshape_from_tensor", "shape"),
    ("cov", "aweights"),
    ("cov", "fweights"),
    ("ctc_loss", "input_lengths"),
    ("ctc_loss", "target_lengths"),
    ("gru", "batch_sizes"),
    ("istft", "window"),
    ("lstm", "batch_sizes"),
    ("nanquantile", "q"),
    ("quantile", "q"),
    ("rnn_relu", "batch_sizes"),
    ("rnn_tanh", "batch_sizes"),
    ("tensor_split", "tensor_indices_or_sections"),
];

/// Compares the mapped calls of an operator, and of its in-place and `out=` forms, with the loop over slices.
pub(crate) fn check(case: &ReferenceCall, number: usize, forms: OperatorForms) -> Vec<Verdict> {
    let _slow = lock_slow_loops(SlowLoops::Allow);
    let mut verdicts = check_mapped_calls(case, case.operator, number);
    verdicts.extend(gradients::check(case).map(|verdict| verdict.with_context("gradients")));
    let forms = if number.is_multiple_of(NESTED_CALL_INTERVAL) { forms } else { OperatorForms::default() };
    // A mapped tensor is a view, which `detach_` refuses, as in PyTorch.
    if let Some(form) = forms.in_place.filter(|form| known_base(form.name()) != "detach_") {
        verdicts
            .extend(check_mapped_calls(case, form, number).into_iter().map(|verdict| verdict.with_context("in place")));
    }
    if let Some(form) = forms.out.and_then(|form| derived_calls::derive_out_call(case, form)) {
        verdicts.extend(
            check_mapped_calls(&form, form.operator, number)
                .into_iter()
                .map(|verdict| verdict.with_context("into `out`")),
        );
    }
    verdicts
}

/// Checks which calls pass with batch rules alone: loops over slices are refused.
pub(crate) fn check_batch_rules(case: &ReferenceCall, number: usize) -> Vec<Verdict> {
    if depends_on_data(case.operator, &case.arguments) {
        return vec![Verdict::NotApplicable("it reads elements on the host")];
    }
    let _slow = lock_slow_loops(SlowLoops::Refuse);
    let verdicts = check_mapped_calls(case, case.operator, number);
    let has_parts = Strategy::for_operator(case.operator) == Strategy::Decompose;
    let judged = verdicts.into_iter().filter_map(|verdict| match verdict {
        Verdict::Passed if has_parts => Some(Verdict::NotApplicable("it is a composite of operators that have rules")),
        Verdict::Failed(failure) if is_loop_refusal(&failure) && has_parts => {
            Some(Verdict::NotApplicable("an operator inside of it runs as a loop over slices"))
        }
        Verdict::Failed(failure) if is_loop_refusal(&failure) => {
            Some(Verdict::NotApplicable("it runs as a loop over slices"))
        }
        // [`check`] reports this failure.
        Verdict::Failed(_) => None,
        other => Some(other),
    });
    judged.collect()
}

/// Sets whether `vmap` may loop over slices, until the guard is dropped. The setting is global, so the guard excludes other checks.
pub(crate) fn lock_slow_loops(slow: SlowLoops) -> SlowLoopGuard {
    static SLOW_LOOPS_LOCK: Mutex<()> = Mutex::new(());
    let lock = SLOW_LOOPS_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    SlowLoopGuard { before: set_slow_loops(slow), _lock: lock }
}

/// Restores the setting of the program when it is dropped.
pub(crate) struct SlowLoopGuard {
    before: SlowLoops,
    _lock: MutexGuard<'static, ()>,
}

impl Drop for SlowLoopGuard {
    fn drop(&mut self) {
        set_slow_loops(self.before);
    }
}

fn is_loop_refusal(failure: &Failure) -> bool {
    match failure {
        Failure::Refused(error) => matches!(find_source_of_type(error), Some(VmapError::SlowLoopRefused { .. })),
        Failure::InDerivedCall { failure, .. } => is_loop_refusal(failure),
        _ => false,
    }
}

fn check_mapped_calls(case: &ReferenceCall, operator: &'static Operator, number: usize) -> Vec<Verdict> {
    let slices = SliceCalls::new(case, operator);
    let count = slices.tensor_count();
    if count == 0 {
        return Vec::new();
    }
    match slices.call_reference() {
        Ok(_) if slices.is_random() => return check_randomness(operator, &case.arguments, case.device),
        Ok(_) => {}
        // The operator may accept arguments that its form refuses.
        Err(_) if !std::ptr::eq(operator, case.operator) => return Vec::new(),
        Err(error) => return vec![error.into()],
    }
    let check = BatchChecks { slices, number };
    let mut mappings: Vec<BatchMapping> = (0..count).map(|at| check.one_tensor_mapping(at)).collect();
    if count > 1 {
        mappings.push(check.all_tensors_mapping());
    }
    if number.is_multiple_of(NESTED_CALL_INTERVAL) {
        mappings.push(check.two_level_mapping());
    }
    mappings.iter().map(|mapping| check.check_mapping(mapping).with_context(mapping.name.as_str())).collect()
}

/// The batch dimensions of each tensor of a call, with the batch sizes of the levels.
struct BatchMapping {
    name: String,
    sizes: &'static [usize],
    dims: Vec<BatchDimsByLevel>,
}

impl BatchMapping {
    fn is_mapped(&self, at: usize) -> bool {
        self.dims[at].iter().any(Option::is_some)
    }
}

/// The checks of one reference call. Its `number` selects batch dimensions and layouts.
struct BatchChecks<'a> {
    slices: SliceCalls<'a>,
    number: usize,
}

impl BatchChecks<'_> {
    /// Returns the batch dimension of a tensor: the first, the last, or the second, in turn.
    fn batch_dim(&self, at: usize, turn: usize) -> usize {
        let rank = self.slices.tensor_rank(at);
        [0, rank, rank.min(1)][(self.number + at + turn) % 3]
    }

    fn one_tensor_mapping(&self, at: usize) -> BatchMapping {
        let name = format!("mapped over {}", self.slices.tensor_name(at));
        let dims = (0..self.slices.tensor_count()).map(|i| vec![(i == at).then(|| self.batch_dim(at, 0))]);
        BatchMapping { name, sizes: ONE_LEVEL_BATCH_SIZES, dims: dims.collect() }
    }

    fn all_tensors_mapping(&self) -> BatchMapping {
        let dims = (0..self.slices.tensor_count()).map(|at| vec![Some(self.batch_dim(at, 1))]);
        BatchMapping { name: "mapped over all tensors".to_owned(), sizes: ONE_LEVEL_BATCH_SIZES, dims: dims.collect() }
    }

    /// Maps the call at two levels. A written tensor has both batch dimensions; some of the others have one.
    fn two_level_mapping(&self) -> BatchMapping {
        let dims = (0..self.slices.tensor_count()).map(|at| {
            let (outer, inner) = (Some(0), Some(self.batch_dim(at, 2)));
            match at % 3 {
                1 if !self.is_written(at) => vec![outer, None],
                2 if !self.is_written(at) => vec![None, inner],
                _ => vec![outer, inner],
            }
        });
        BatchMapping { name: "mapped twice".to_owned(), sizes: TWO_LEVEL_BATCH_SIZES, dims: dims.collect() }
    }

    /// Whether a call writes a tensor. A composite may write less than its schema says: without training, `rrelu_with_noise` does not write
    /// its noise.
    fn is_written(&self, at: usize) -> bool {
        let SliceCalls { operator, .. } = self.slices;
        let says_so = operator.schema().arguments[self.slices.argument_index(at)].is_written();
        says_so && Strategy::for_operator(operator) != Strategy::Decompose || self.slices.is_written(at)
    }

    /// Whether each slice would write other values to a tensor that all slices share. A decomposed operator over lists only combines tensors
    /// of one index, and those that are in no list.
    fn is_written_by_all_slices(&self, at: usize, mapping: &BatchMapping) -> bool {
        let index =
            self.slices.list_index(at).filter(|_| Strategy::for_operator(self.slices.operator) == Strategy::Decompose);
        let is_combined = |other: usize| match (index, self.slices.list_index(other)) {
            (Some(index), Some(other)) => index == other,
            _ => true,
        };
        let is_combined_with_slice =
            || (0..self.slices.tensor_count()).any(|other| mapping.is_mapped(other) && is_combined(other));
        self.is_written(at) && !mapping.is_mapped(at) && is_combined_with_slice()
    }

    /// Whether the call reads elements on the host, so that `vmap` can only run it by a loop over slices.
    fn reads_mapped_elements_on_host(&self, mapping: &BatchMapping) -> bool {
        let operator = self.slices.operator;
        let is_read_on_host = |at: usize| {
            let argument = &*operator.schema().arguments[self.slices.argument_index(at)].name;
            HOST_READ_ARGUMENTS.contains(&(known_base(operator.name()), argument)) && mapping.is_mapped(at)
        };
        depends_on_data(operator, &self.slices.case.arguments) || (0..self.slices.tensor_count()).any(is_read_on_host)
    }

    /// Whether a random operator draws nothing only because its results are empty.
    fn is_random_with_empty_results(&self) -> bool {
        let recorded = self.slices.call_reference();
        let is_empty = |datum: &Datum| datum.arrays().iter().all(|array| array.elements.is_empty());
        aten::is_random(self.slices.operator) && recorded.is_ok_and(|slice| slice.outcome.results.iter().all(is_empty))
    }

    fn check_mapping(&self, mapping: &BatchMapping) -> Verdict {
        let shared = (0..self.slices.tensor_count()).any(|at| self.is_written_by_all_slices(at, mapping));
        let outcome =
            self.compare_with_slices(mapping, if shared { None } else { self.accepted_slice_numbers(mapping) });
        if shared {
            let expected = |error: &Error| {
                matches!(find_source_of_type(error), Some(VmapError::WriteToUnbatched { .. }))
                    || is_randomness_error(error) && self.is_random_with_empty_results()
            };
            return expect_refusal(outcome, expected, "a write for each slice to a tensor that all slices share");
        }
        let reads_batch = (0..self.slices.tensor_count()).any(|at| mapping.is_mapped(at) && !self.is_written(at));
        if self.slices.operator.is_data_dependent() && reads_batch {
            return expect_refusal(outcome, is_host_read_error, "a read of a batch's elements on the host");
        }
        match outcome {
            Ok(()) => Verdict::Passed,
            Err(CallError::Failed(Failure::Refused(error)))
                if is_host_read_error(&error) && self.reads_mapped_elements_on_host(mapping) =>
            {
                Verdict::Passed
            }
            Err(CallError::Failed(Failure::Refused(error)))
                if is_randomness_error(&error) && self.is_random_with_empty_results() =>
            {
                Verdict::Passed
            }
            Err(error) => error.into(),
        }
    }

    /// Returns the slice number of each tensor, for each index of the batch. The slices differ from the given ones if the operator
    /// accepts others. Returns `None` if the operator does not accept them together.
    fn accepted_slice_numbers(&self, mapping: &BatchMapping) -> Option<Vec<Vec<usize>>> {
        let all: Vec<Vec<usize>> = batch_indices(mapping.sizes)
            .map(|place| {
                mapping
                    .dims
                    .iter()
                    .enumerate()
                    .map(|(at, dims)| self.slices.accepted_slice_number(at, slice_number(dims, &place)))
                    .collect()
            })
            .collect();
        self.slices.have_equal_result_sizes(&all).then_some(all)
    }

    fn compare_with_slices(&self, mapping: &BatchMapping, which: Option<Vec<Vec<usize>>>) -> Result<(), CallError> {
        let SliceCalls { case, operator, .. } = self.slices;
        let recorded = || batch_indices(mapping.sizes).map(|_| vec![0; self.slices.tensor_count()]).collect();
        let which: Vec<Vec<usize>> = which.unwrap_or_else(recorded);
        let tensors = (0..self.slices.tensor_count()).map(|at| {
            let slices: Vec<_> = which.iter().map(|which| self.slices.slice_array(at, which[at])).collect();
            let interleaved =
                self.number % 2 == 1 && !LAYOUT_SENSITIVE_OPERATORS.contains(&known_base(operator.name()));
            stack_slices(&slices, &mapping.dims[at], mapping.sizes, interleaved)
        });
        let given = self.slices.values_with_tensors(&tensors.collect::<Vec<_>>())?;
        let versions: Vec<Vec<u64>> = given.iter().map(version_counters).collect();
        let levels: Vec<Vec<Option<usize>>> =
            (0..mapping.sizes.len()).map(|level| mapping.dims.iter().map(|dims| dims[level]).collect()).collect();
        let results = call_mapped(operator, &given, &levels, Randomness::Error)?;
        let in_front: BatchDimsByLevel = mapping.sizes.iter().map(|_| Some(0)).collect();
        for (place, which) in batch_indices(mapping.sizes).zip(&which) {
            let slice_of = |dims: &mut dyn Iterator<Item = BatchDimsByLevel>, values: &[_]| {
                values.iter().map(|value| slice_value(value, dims, &place)).collect::<Result<Vec<_>, _>>()
            };
            let results = slice_of(&mut iter::repeat(in_front.clone()), &results)?;
            let given = slice_of(&mut mapping.dims.iter().cloned(), &given)?;
            let outcome =
                Outcome { given, results, is_unpredictable: returns_uninitialized(known_base(operator.name())) };
            aliasing::check(operator, &outcome.given, &versions, &outcome.results)?;
            let Some(slice) = self.slices.call_with_slices_cached(which) else { continue };
            let expected = case.derived_call(operator, slice.arguments.clone(), slice.outcome.results.clone());
            expected
                .with_arguments_after(slice.outcome.after.clone())
                .compare_outcome(&outcome, ComparedProperties::AllButStrides)?;
        }
        Ok(())
    }
}

/// Whether `vmap` refused a call because the caller did not choose a randomness mode.
pub(crate) fn is_randomness_error(error: &Error) -> bool {
    matches!(find_source_of_type(error), Some(VmapError::RandomnessNotChosen { .. }))
}

/// Whether a call was refused because it reads elements of a batch on the host.
fn is_host_read_error(error: &Error) -> bool {
    matches!(find_source_of_type(error), Some(VmapError::DataDependent { .. } | VmapError::NonTensorResult { .. }))
        || matches!(find_source_of_type(error), Some(AccessError::NotOnHost { .. }))
        || find_source_of_type(error)
            .is_some_and(|cause: &BadArgument| matches!(*cause.problem, Problem::NotOnHost { .. }))
}

/// Returns a passed verdict if the call was refused with the expected error, and a failed one if the call was made.
fn expect_refusal(outcome: Result<(), CallError>, expected: impl Fn(&Error) -> bool, mistake: &str) -> Verdict {
    match outcome {
        Ok(()) | Err(CallError::Failed(Failure::WrongResult { .. } | Failure::WrongArgumentAfterCall { .. })) => {
            Verdict::Failed(Failure::NotRefused { mistake: mistake.to_owned() })
        }
        Err(CallError::Failed(Failure::Refused(error))) if expected(&error) => Verdict::Passed,
        Err(error) => error.into(),
    }
}

/// Returns all index tuples of batch dimensions of these sizes, in row-major order.
fn batch_indices(sizes: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let places = sizes.iter().fold(vec![Vec::new()], |places, &size| {
        places.iter().flat_map(|place| (0..size).map(|i| place.iter().copied().chain([i]).collect())).collect()
    });
    places.into_iter()
}
