//! Checks of batch rules: compares the call of a batch within `vmap` with the calls of its slices.
//!
//! Each tensor of a recorded call becomes a batch: the recorded tensor, and others that the operator also accepts. Each slice of the
//! results and of the written arguments must equal those of the call of that slice.

mod batch;
mod gradients;
mod mapped_call;
mod random;
mod slices;

use std::iter;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dispatch_runtime::{AccessError, BadArgument, Error, Operator, Problem};
use dispatch_vmap::{Randomness, SlowLoops, Strategy, VmapError, set_slow_loops};

use crate::aliasing::{self, versions_of};
use crate::case::{Case, Outcome, is_unset};
use crate::compare::Extent;
use crate::datum::Datum;
use crate::derive::{self, Forms, LAYOUT_SENSITIVE};
use crate::meta::depends_on_data;
use crate::verdict::{Failure, Stop, Verdict};

use batch::{Dims, batch, slice};
use mapped_call::cause;
pub(crate) use mapped_call::{filled, mapped};
pub(crate) use random::check as random;
use slices::{Slices, count};

/// The batch size of a call that is mapped once, and the two batch sizes of a call that is mapped twice.
const ONCE: &[usize] = &[3];
const TWICE: &[usize] = &[2, 3];
/// One call in this many is mapped twice.
const SAMPLED: usize = 4;

/// Arguments whose elements a composite reads on the host, for example as lengths or to validate them.
const LOOKED_AT: [(&str, &str); 13] = [
    ("_pack_padded_sequence", "lengths"),
    ("_pad_packed_sequence", "batch_sizes"),
    ("cov", "aweights"),
    ("cov", "fweights"),
    ("ctc_loss", "input_lengths"),
    ("ctc_loss", "target_lengths"),
    ("gru", "batch_sizes"),
    ("lstm", "batch_sizes"),
    ("nanquantile", "q"),
    ("quantile", "q"),
    ("rnn_relu", "batch_sizes"),
    ("rnn_tanh", "batch_sizes"),
    ("tensor_split", "tensor_indices_or_sections"),
];

/// Compares the mapped calls of an operator, and of its in-place and `out=` forms, with the loop over slices.
pub(crate) fn check(case: &Case, number: usize, forms: Forms) -> Vec<Verdict> {
    let _slow = only(SlowLoops::Allow);
    let mut verdicts = verdicts(case, case.operator, number);
    verdicts.extend(gradients::check(case).map(|verdict| verdict.of("gradients")));
    let forms = if number.is_multiple_of(SAMPLED) { forms } else { Forms::default() };
    if let Some(form) = forms.in_place {
        verdicts.extend(self::verdicts(case, form, number).into_iter().map(|verdict| verdict.of("in place")));
    }
    if let Some(form) = forms.out.and_then(|form| derive::call_of_out(case, form)) {
        verdicts
            .extend(self::verdicts(&form, form.operator, number).into_iter().map(|verdict| verdict.of("into `out`")));
    }
    verdicts
}

/// Checks which calls pass with batch rules alone: loops over slices are refused.
pub(crate) fn rules(case: &Case, number: usize) -> Vec<Verdict> {
    if depends_on_data(case.operator, &case.arguments) {
        return vec![Verdict::LeftOut("it looks at elements")];
    }
    let _slow = only(SlowLoops::Refuse);
    let verdicts = verdicts(case, case.operator, number);
    let has_parts = Strategy::of(case.operator) == Strategy::Decompose;
    let judged = verdicts.into_iter().filter_map(|verdict| match verdict {
        Verdict::Passed if has_parts => Some(Verdict::LeftOut("it comes apart into others, which have rules")),
        Verdict::Failed(failure) if is_slow(&failure) && has_parts => {
            Some(Verdict::LeftOut("a part of it is a loop over slices"))
        }
        Verdict::Failed(failure) if is_slow(&failure) => Some(Verdict::LeftOut("it is a loop over slices")),
        // [`check`] reports this failure.
        Verdict::Failed(_) => None,
        other => Some(other),
    });
    judged.collect()
}

/// Sets whether `vmap` may loop over slices. The setting is global, so the guard excludes other checks until it is dropped.
pub(crate) fn only(slow: SlowLoops) -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    set_slow_loops(slow);
    one
}

fn is_slow(failure: &Failure) -> bool {
    match failure {
        Failure::Refused(error) => matches!(cause(error), Some(VmapError::LoopRefused { .. })),
        Failure::Derived { failure, .. } => is_slow(failure),
        _ => false,
    }
}

fn verdicts(case: &Case, operator: &'static Operator, number: usize) -> Vec<Verdict> {
    let slices = Slices::new(case, operator);
    let count = slices.count();
    if count == 0 {
        return Vec::new();
    }
    match slices.recorded() {
        Ok(_) if slices.is_random() => return random(operator, &case.arguments, case.device),
        Ok(_) => {}
        // The operator may accept arguments that its form refuses.
        Err(_) if !std::ptr::eq(operator, case.operator) => return Vec::new(),
        Err(stop) => return vec![stop.into()],
    }
    let check = Batches { slices, number };
    let mut mappings: Vec<Mapping> = (0..count).map(|at| check.over_one(at)).collect();
    if count > 1 {
        mappings.push(check.over_all());
    }
    if number.is_multiple_of(SAMPLED) {
        mappings.push(check.twice());
    }
    mappings.iter().map(|mapping| check.verdict(mapping).of(mapping.name.as_str())).collect()
}

/// The batch dimensions of each tensor of a call, with the batch sizes of the levels.
struct Mapping {
    name: String,
    sizes: &'static [usize],
    dims: Vec<Dims>,
}

impl Mapping {
    fn maps(&self, at: usize) -> bool {
        self.dims[at].iter().any(Option::is_some)
    }
}

/// The checks of one recorded call. Its `number` selects batch dimensions and layouts.
struct Batches<'a> {
    slices: Slices<'a>,
    number: usize,
}

impl Batches<'_> {
    /// Returns the batch dimension of a tensor: the first, the last, or the second, in turn.
    fn dim(&self, at: usize, turn: usize) -> usize {
        let rank = self.slices.rank(at);
        [0, rank, rank.min(1)][(self.number + at + turn) % 3]
    }

    fn over_one(&self, at: usize) -> Mapping {
        let name = format!("mapped over {}", self.slices.name(at));
        let dims = (0..self.slices.count()).map(|i| vec![(i == at).then(|| self.dim(at, 0))]);
        Mapping { name, sizes: ONCE, dims: dims.collect() }
    }

    fn over_all(&self) -> Mapping {
        let dims = (0..self.slices.count()).map(|at| vec![Some(self.dim(at, 1))]);
        Mapping { name: "mapped over all tensors".to_owned(), sizes: ONCE, dims: dims.collect() }
    }

    /// Maps the call at two levels. A written tensor has both batch dimensions; some of the others have one.
    fn twice(&self) -> Mapping {
        let dims = (0..self.slices.count()).map(|at| {
            let (outer, inner) = (Some(0), Some(self.dim(at, 2)));
            match at % 3 {
                1 if !self.is_written(at) => vec![outer, None],
                2 if !self.is_written(at) => vec![None, inner],
                _ => vec![outer, inner],
            }
        });
        Mapping { name: "mapped twice".to_owned(), sizes: TWICE, dims: dims.collect() }
    }

    /// Whether a call writes a tensor. A composite may write less than its schema says: without training, `rrelu_with_noise` does not write
    /// its noise.
    fn is_written(&self, at: usize) -> bool {
        let Slices { operator, .. } = self.slices;
        let says_so = operator.schema().arguments[self.slices.argument(at)].is_written();
        says_so && Strategy::of(operator) != Strategy::Decompose || self.slices.is_written(at)
    }

    /// Whether the call reads elements on the host, so that `vmap` can only run it by a loop over slices.
    fn looks(&self, mapping: &Mapping) -> bool {
        let operator = self.slices.operator;
        let is_looked_at = |at: usize| {
            let argument = &*operator.schema().arguments[self.slices.argument(at)].name;
            LOOKED_AT.contains(&(operator.name().base, argument)) && mapping.maps(at)
        };
        depends_on_data(operator, &self.slices.case.arguments) || (0..self.slices.count()).any(is_looked_at)
    }

    /// Whether a random operator draws nothing only because its results are empty.
    fn draws_for_nothing(&self) -> bool {
        let recorded = self.slices.recorded();
        let is_empty = |datum: &Datum| datum.arrays().iter().all(|array| array.elements.is_empty());
        aten::is_random(self.slices.operator) && recorded.is_ok_and(|slice| slice.left.results.iter().all(is_empty))
    }

    fn verdict(&self, mapping: &Mapping) -> Verdict {
        let shared = (0..self.slices.count()).any(|at| self.is_written(at) && !mapping.maps(at));
        let outcome = self.outcome(mapping, if shared { None } else { self.which(mapping) });
        if shared {
            let expected = |error: &Error| {
                matches!(cause(error), Some(VmapError::WriteToUnbatched { .. }))
                    || is_random(error) && self.draws_for_nothing()
            };
            return refused(outcome, expected, "to write for each slice to what all share");
        }
        let reads_batch = (0..self.slices.count()).any(|at| mapping.maps(at) && !self.is_written(at));
        if self.slices.operator.is_data_dependent() && reads_batch {
            return refused(outcome, is_blind, "to look at the elements of a batch");
        }
        match outcome {
            Ok(()) => Verdict::Passed,
            Err(Stop::Failed(Failure::Refused(error))) if is_blind(&error) && self.looks(mapping) => Verdict::Passed,
            Err(Stop::Failed(Failure::Refused(error))) if is_random(&error) && self.draws_for_nothing() => {
                Verdict::Passed
            }
            Err(stop) => stop.into(),
        }
    }

    /// Returns the numbers of the slices at each index of the batch. They differ from the recorded slices if the operator accepts others.
    /// Returns `None` if the operator does not accept them together.
    fn which(&self, mapping: &Mapping) -> Option<Vec<Vec<usize>>> {
        let all: Vec<Vec<usize>> = places(mapping.sizes)
            .map(|place| {
                mapping.dims.iter().enumerate().map(|(at, dims)| self.slices.other(at, count(dims, &place))).collect()
            })
            .collect();
        self.slices.agree(&all).then_some(all)
    }

    fn outcome(&self, mapping: &Mapping, which: Option<Vec<Vec<usize>>>) -> Result<(), Stop> {
        let Slices { case, operator, .. } = self.slices;
        let recorded = || places(mapping.sizes).map(|_| vec![0; self.slices.count()]).collect();
        let which: Vec<Vec<usize>> = which.unwrap_or_else(recorded);
        let tensors = (0..self.slices.count()).map(|at| {
            let slices: Vec<_> = which.iter().map(|which| self.slices.array(at, which[at])).collect();
            let spread = self.number % 2 == 1 && !LAYOUT_SENSITIVE.contains(&operator.name().base);
            batch(&slices, &mapping.dims[at], mapping.sizes, spread)
        });
        let given = self.slices.values(&tensors.collect::<Vec<_>>())?;
        let versions: Vec<Vec<u64>> = given.iter().map(versions_of).collect();
        let levels: Vec<Vec<Option<usize>>> =
            (0..mapping.sizes.len()).map(|level| mapping.dims.iter().map(|dims| dims[level]).collect()).collect();
        let results = mapped(operator, &given, &levels, Randomness::Error)?;
        let in_front: Dims = mapping.sizes.iter().map(|_| Some(0)).collect();
        for (place, which) in places(mapping.sizes).zip(&which) {
            let slice_of = |dims: &mut dyn Iterator<Item = Dims>, values: &[_]| {
                values.iter().map(|value| slice(value, dims, &place)).collect::<Result<Vec<_>, _>>()
            };
            let results = slice_of(&mut iter::repeat(in_front.clone()), &results)?;
            let given = slice_of(&mut mapping.dims.iter().cloned(), &given)?;
            let outcome = Outcome { given, results, is_arbitrary: is_unset(operator.name().base) };
            aliasing::check(operator, &outcome.given, &versions, &outcome.results)?;
            let Some(slice) = self.slices.call(which) else { continue };
            let expected = case.derived(operator, slice.arguments.clone(), slice.left.results.clone());
            expected.leaving(slice.left.after.clone()).compare(&outcome, Extent::Values)?;
        }
        Ok(())
    }
}

/// Whether `vmap` refused a call because the caller did not choose a randomness mode.
pub(crate) fn is_random(error: &Error) -> bool {
    matches!(cause(error), Some(VmapError::RandomnessNotChosen { .. }))
}

/// Whether a call was refused because it reads elements of a batch on the host.
fn is_blind(error: &Error) -> bool {
    matches!(cause(error), Some(VmapError::DataDependent { .. } | VmapError::NotATensor { .. }))
        || matches!(cause(error), Some(AccessError::NotOnHost { .. }))
        || cause(error).is_some_and(|cause: &BadArgument| matches!(*cause.problem, Problem::NotOnHost { .. }))
}

/// Returns a passed verdict if the call was refused with the expected error, and a failed one if the call was made.
fn refused(outcome: Result<(), Stop>, expected: impl Fn(&Error) -> bool, mistake: &str) -> Verdict {
    match outcome {
        Ok(()) | Err(Stop::Failed(Failure::Result { .. } | Failure::Argument { .. })) => {
            Verdict::Failed(Failure::NotRefused { mistake: mistake.to_owned() })
        }
        Err(Stop::Failed(Failure::Refused(error))) if expected(&error) => Verdict::Passed,
        Err(stop) => stop.into(),
    }
}

/// Returns all index tuples of batch dimensions of these sizes, in row-major order.
fn places(sizes: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let places = sizes.iter().fold(vec![Vec::new()], |places, &size| {
        places.iter().flat_map(|place| (0..size).map(|i| place.iter().copied().chain([i]).collect())).collect()
    });
    places.into_iter()
}
