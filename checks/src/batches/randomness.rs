//! Checks random operators within `vmap`, for each randomness mode: error, same for all slices, different for each slice.

use dispatch_runtime::schema::Argument;
use dispatch_runtime::{Device, Error, Generator, Operator, Value};
use dispatch_vmap::{Randomness, VmapError};

use super::batch::{slice_value, stack_slices};
use super::mapped_call::{call_mapped, find_source_of_type};
use super::{expect_refusal, is_randomness_error};
use crate::array::Array;
use crate::compare::{ComparedProperties, Difference, compare_results};
use crate::datum::{Datum, create_values};
use crate::reference_call::{HostOutcome, Outcome, call_and_check_aliasing, copy_outcome_to_host};
use crate::verdict::{CallError, Failure, Verdict};

const SLICE_COUNT: usize = 3;
/// The number of seeds to try: slices may be equal by chance.
const SEED_COUNT: u64 = 8;

/// Checks a call of a random operator within `vmap` against each [`Randomness`] mode.
pub fn check(operator: &'static Operator, arguments: &[Datum], device: Device) -> Vec<Verdict> {
    let call = RandomCall { operator, arguments, device };
    let is_shared = |error: &Error| matches!(find_source_of_type(error), Some(VmapError::WriteToUnbatched { .. }));
    let without_mode = call.call_within_vmap(1, true, Randomness::Error).map(|_| ());
    let mut verdicts = vec![
        expect_refusal(without_mode, is_randomness_error, "random numbers without a randomness mode"),
        Verdict::from(call.check_same_mode()).with_context("the same for all slices"),
        Verdict::from(call.check_different_mode()).with_context("different for each slice"),
    ];
    if operator.schema().arguments.iter().any(Argument::is_written) {
        let shared = call.call_within_vmap(1, false, Randomness::Different).map(|_| ());
        verdicts.push(expect_refusal(
            shared,
            is_shared,
            "a write of different random numbers to a tensor that all slices share",
        ));
    }
    verdicts
}

struct RandomCall<'a> {
    operator: &'static Operator,
    arguments: &'a [Datum],
    device: Device,
}

impl RandomCall<'_> {
    /// Makes the call outside `vmap`, with a generator of this seed.
    fn call_outside_vmap(&self, seed: u64) -> Result<HostOutcome, CallError> {
        // A generator of this thread: draws of other threads do not change it.
        let _own = Generator::new(self.device, seed).make_default();
        let outcome = call_and_check_aliasing(self.operator, create_values(self.arguments, self.device)?)?;
        Ok(copy_outcome_to_host(self.operator, &outcome)?)
    }

    /// Makes the call within `vmap` over equal slices, and returns the outcome of each slice. Without `maps_arguments`, the operator's tensors are
    /// shared by all slices.
    fn call_within_vmap(
        &self,
        seed: u64,
        maps_arguments: bool,
        randomness: Randomness,
    ) -> Result<Vec<HostOutcome>, CallError> {
        let _own = Generator::new(self.device, seed).make_default();
        let of_all = |array: &Array| {
            stack_slices(&vec![array.clone(); SLICE_COUNT], &[maps_arguments.then_some(0)], &[SLICE_COUNT], false)
        };
        let mut arguments: Vec<Datum> = self.arguments.iter().map(|datum| datum.map_arrays(of_all)).collect();
        let mut dims = vec![maps_arguments.then_some(0); arguments.iter().map(|datum| datum.arrays().len()).sum()];
        // This input gives `vmap` a batch even if the operator's tensors have none.
        arguments.push(Datum::Array(Array::from_floats(&[3], &[0.0; SLICE_COUNT])));
        dims.push(Some(0));
        let mut given = create_values(&arguments, self.device)?;
        let results = call_mapped(self.operator, &given, &[dims], randomness)?;
        given.truncate(self.arguments.len());
        let at = |values: &[Value], place: usize| {
            let slices = values.iter().map(|value| slice_value(value, &mut std::iter::repeat(vec![Some(0)]), &[place]));
            slices.collect::<Result<Vec<_>, _>>()
        };
        let read_at = |place| {
            let given = if maps_arguments { at(&given, place)? } else { given.clone() };
            Ok(copy_outcome_to_host(
                self.operator,
                &Outcome { given, results: at(&results, place)?, is_unpredictable: true },
            )?)
        };
        (0..SLICE_COUNT).map(read_at).collect()
    }

    fn check_same_mode(&self) -> Result<(), CallError> {
        let one = self.call_outside_vmap(1)?;
        let slices = self.call_within_vmap(1, true, Randomness::Same)?;
        slices.iter().try_for_each(|slice| compare_outcomes(ComparedProperties::DTypeAndSizes, slice, &one))?;
        // The vmap layer may draw other numbers than the call outside `vmap`.
        Ok(slices
            .windows(2)
            .try_for_each(|pair| compare_outcomes(ComparedProperties::AllButStrides, &pair[1], &pair[0]))?)
    }

    fn check_different_mode(&self) -> Result<(), CallError> {
        let one = self.call_outside_vmap(1)?;
        let mut could_be = false;
        for seed in 1..=SEED_COUNT {
            let slices = self.call_within_vmap(seed, true, Randomness::Different)?;
            slices.iter().try_for_each(|slice| compare_outcomes(ComparedProperties::DTypeAndSizes, slice, &one))?;
            if slices
                .windows(2)
                .all(|pair| compare_outcomes(ComparedProperties::AllButStrides, &pair[0], &pair[1]).is_err())
            {
                return Ok(());
            }
            could_be |=
                compare_outcomes(ComparedProperties::AllButStrides, &self.call_outside_vmap(seed)?, &one).is_err();
        }
        let (actual, expected) =
            ("equal numbers in several slices".to_owned(), "different numbers in each slice".to_owned());
        let failure = Failure::WrongResult { index: 0, difference: Difference::Value { actual, expected } };
        if could_be { Err(failure.into()) } else { Ok(()) }
    }
}

fn compare_outcomes(
    properties: ComparedProperties,
    actual: &HostOutcome,
    expected: &HostOutcome,
) -> Result<(), Failure> {
    compare_results(properties, actual.results_and_arguments(), expected.results_and_arguments())
}
