//! Checks random operators within `vmap`, for each randomness mode: error, same for all slices, different for each slice.

use dispatch_runtime::schema::Argument;
use dispatch_runtime::{Device, Error, Generator, Operator, Value};
use dispatch_vmap::{Randomness, VmapError};

use super::batch::{batch, slice};
use super::mapped_call::{cause, mapped};
use super::{is_random, refused};
use crate::array::Array;
use crate::case::{Outcome, Read, call, read};
use crate::compare::{Difference, Extent, compare_all};
use crate::datum::{Datum, to_values};
use crate::verdict::{Failure, Stop, Verdict};

const SLICES: usize = 3;
/// The number of seeds to try: slices may be equal by chance.
const ATTEMPTS: u64 = 8;

/// Checks a call of a random operator within `vmap` against each [`Randomness`] mode.
pub(crate) fn check(operator: &'static Operator, arguments: &[Datum], device: Device) -> Vec<Verdict> {
    let draws = Draws { operator, arguments, device };
    let is_shared = |error: &Error| matches!(cause(error), Some(VmapError::WriteToUnbatched { .. }));
    let unsaid = draws.mapped(1, true, Randomness::Error).map(|_| ());
    let mut verdicts = vec![
        refused(unsaid, is_random, "random numbers of which nobody said whose they are"),
        Verdict::from(draws.same()).of("the same for all slices"),
        Verdict::from(draws.different()).of("different for each slice"),
    ];
    if operator.schema().arguments.iter().any(Argument::is_written) {
        let shared = draws.mapped(1, false, Randomness::Different).map(|_| ());
        verdicts.push(refused(shared, is_shared, "to write random numbers for each slice to what all share"));
    }
    verdicts
}

struct Draws<'a> {
    operator: &'static Operator,
    arguments: &'a [Datum],
    device: Device,
}

impl Draws<'_> {
    /// Makes the call outside `vmap`, with a generator of this seed.
    fn one(&self, seed: u64) -> Result<Read, Stop> {
        // A generator of this thread: draws of other threads do not change it.
        let _own = Generator::new(self.device, seed).make_default();
        let outcome = call(self.operator, to_values(self.arguments, self.device)?)?;
        Ok(read(self.operator, &outcome)?)
    }

    /// Makes the call within `vmap` over equal slices, and returns the outcome of each slice. Without `takes`, the operator's tensors are
    /// shared by all slices.
    fn mapped(&self, seed: u64, takes: bool, randomness: Randomness) -> Result<Vec<Read>, Stop> {
        let _own = Generator::new(self.device, seed).make_default();
        let of_all = |array: &Array| batch(&vec![array.clone(); SLICES], &[takes.then_some(0)], &[SLICES], false);
        let mut arguments: Vec<Datum> = self.arguments.iter().map(|datum| datum.map(of_all)).collect();
        let mut dims = vec![takes.then_some(0); arguments.iter().map(|datum| datum.arrays().len()).sum()];
        // This input gives `vmap` a batch even if the operator's tensors have none.
        arguments.push(Datum::Array(Array::floats(&[3], &[0.0; SLICES])));
        dims.push(Some(0));
        let mut given = to_values(&arguments, self.device)?;
        let results = mapped(self.operator, &given, &[dims], randomness)?;
        given.truncate(self.arguments.len());
        let at = |values: &[Value], place: usize| {
            let slices = values.iter().map(|value| slice(value, &mut std::iter::repeat(vec![Some(0)]), &[place]));
            slices.collect::<Result<Vec<_>, _>>()
        };
        let read_at = |place| {
            let given = if takes { at(&given, place)? } else { given.clone() };
            Ok(read(self.operator, &Outcome { given, results: at(&results, place)?, is_arbitrary: true })?)
        };
        (0..SLICES).map(read_at).collect()
    }

    fn same(&self) -> Result<(), Stop> {
        let one = self.one(1)?;
        let slices = self.mapped(1, true, Randomness::Same)?;
        slices.iter().try_for_each(|slice| compare(Extent::Sizes, slice, &one))?;
        // The vmap layer may draw other numbers than the call outside `vmap`.
        Ok(slices.windows(2).try_for_each(|pair| compare(Extent::Values, &pair[1], &pair[0]))?)
    }

    fn different(&self) -> Result<(), Stop> {
        let one = self.one(1)?;
        let mut could_be = false;
        for seed in 1..=ATTEMPTS {
            let slices = self.mapped(seed, true, Randomness::Different)?;
            slices.iter().try_for_each(|slice| compare(Extent::Sizes, slice, &one))?;
            if slices.windows(2).all(|pair| compare(Extent::Values, &pair[0], &pair[1]).is_err()) {
                return Ok(());
            }
            could_be |= compare(Extent::Values, &self.one(seed)?, &one).is_err();
        }
        let (actual, expected) = ("the same for several slices".to_owned(), "others for each".to_owned());
        let failure = Failure::Result { index: 0, difference: Difference::Value { actual, expected } };
        if could_be { Err(failure.into()) } else { Ok(()) }
    }
}

fn compare(extent: Extent, actual: &Read, expected: &Read) -> Result<(), Failure> {
    compare_all(extent, actual.all(), expected.all())
}
