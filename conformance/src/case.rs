//! A recorded call of an operator, with its expected outcome. The checks call it any number of times.

use std::cell::OnceCell;

use dispatch_runtime::schema::Schema;
use dispatch_runtime::{DType, Device, Generator, Operator, Value};
use dispatch_vmap::Strategy;

use crate::aliasing::{self, versions_of};
use crate::array::Array;
use crate::compare::{Difference, Extent, as_good, compare_to};
use crate::datum::{Datum, to_values};
use crate::decode;
use crate::error::Result;
use crate::recording::Call;
use crate::storage_offset;
use crate::tensors::complex;
use crate::ties;
use crate::verdict::{Failure, Stop, Verdict, invoke};

/// Operators that return uninitialized memory.
const UNSET: [&str; 6] = ["empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"];

/// Whether an operator returns uninitialized memory.
pub(crate) fn is_unset(base: &str) -> bool {
    UNSET.contains(&base)
}

/// Whether an operator may draw random numbers. Of other operators, values are compared even if a random generator was used during the
/// call.
fn may_draw(operator: &'static Operator) -> bool {
    aten::is_random(operator) || Strategy::of(operator) == Strategy::Decompose
}

pub(crate) struct Case {
    pub(crate) operator: &'static Operator,
    pub(crate) device: Device,
    pub(crate) arguments: Vec<Datum>,
    pub(crate) expected: Vec<Datum>,
    pub(crate) gradients: Option<Recorded>,
    /// For each argument, whether the recording has a scalar for a tensor.
    pub(crate) numbers: Vec<bool>,
    after: Option<Vec<Option<Datum>>>,
    double: OnceCell<Option<Read>>,
    arbitrary: OnceCell<bool>,
}

/// The gradients of a [`Call`], and the arguments at which they were computed.
pub(crate) struct Recorded {
    pub(crate) arguments: Vec<Datum>,
    pub(crate) gradients: Vec<Option<Vec<f64>>>,
}

/// The results of a call, and its arguments after the call.
pub(crate) struct Outcome {
    pub(crate) given: Vec<Value>,
    pub(crate) results: Vec<Value>,
    /// Whether the elements are unpredictable: random numbers, or uninitialized memory.
    pub(crate) is_arbitrary: bool,
}

impl Outcome {
    /// Restricts `extent` to the properties that can be compared: without elements if they are unpredictable.
    pub(crate) const fn known(&self, extent: Extent) -> Extent {
        if self.is_arbitrary { extent.outline() } else { extent }
    }
}

/// The results and the final arguments of an [`Outcome`], copied to the host.
pub(crate) struct Read {
    pub(crate) results: Vec<Datum>,
    pub(crate) after: Vec<Datum>,
}

impl Case {
    pub(crate) fn new(operator: &'static Operator, call: &Call, device: Device) -> Result<Self> {
        let schema = operator.schema();
        let (mut arguments, expected) = (decode::arguments(call, schema)?, decode::results(call, schema)?);
        if operator.name().base == "as_strided" {
            storage_offset::infer(&mut arguments, &expected);
        }
        Ok(Self {
            gradients: recorded_gradients(call, schema, &arguments)?,
            numbers: (0..schema.arguments.len()).map(|i| decode::is_number(call, schema, i)).collect(),
            after: decode::arguments_after(call, schema)?,
            ..Self::plain(operator, device, arguments, expected)
        })
    }

    /// A call with arguments and expected results, and no other recorded data.
    const fn plain(operator: &'static Operator, device: Device, arguments: Vec<Datum>, expected: Vec<Datum>) -> Self {
        Self {
            operator,
            device,
            arguments,
            expected,
            gradients: None,
            numbers: Vec::new(),
            after: None,
            double: OnceCell::new(),
            arbitrary: OnceCell::new(),
        }
    }

    /// A call without a recorded outcome.
    pub(crate) fn made(operator: &'static Operator, call: &Call, device: Device) -> Result<Self> {
        Ok(Self::plain(operator, device, decode::arguments(call, operator.schema())?, Vec::new()))
    }

    /// A call of another operator, whose expected results were derived from this call's recording.
    pub(crate) fn derived(&self, operator: &'static Operator, arguments: Vec<Datum>, expected: Vec<Datum>) -> Self {
        Self::plain(operator, self.device, arguments, expected)
    }

    /// Returns the call with equal arguments that have another memory layout.
    pub(crate) fn with_arguments(&self, arguments: Vec<Datum>) -> Self {
        Self { after: self.after.clone(), ..self.derived(self.operator, arguments, self.expected.clone()) }
    }

    /// Returns the call with these arguments expected after it.
    pub(crate) fn leaving(self, after: Vec<Datum>) -> Self {
        Self { after: Some(after.into_iter().map(Some).collect()), ..self }
    }

    /// Returns the dtypes of the tensors among arguments and results, and the dtypes that are arguments themselves.
    pub(crate) fn dtypes(&self) -> impl Iterator<Item = DType> {
        self.arguments.iter().chain(&self.expected).flat_map(|datum| match datum {
            Datum::Plain(Value::DType(dtype)) => vec![*dtype],
            datum => datum.arrays().into_iter().map(|array| array.dtype).collect(),
        })
    }

    /// Makes the recorded call, and compares its outcome with the recording and the schema.
    pub(crate) fn values(&self) -> Verdict {
        self.verdict(Extent::All)
    }

    /// Whether the elements of the results are unpredictable. This depends on the call and not on the operator: without training, many
    /// operators draw no random numbers.
    pub(crate) fn is_arbitrary(&self) -> bool {
        *self.arbitrary.get_or_init(|| self.call(&self.arguments).is_ok_and(|outcome| outcome.is_arbitrary))
    }

    /// Makes the call, and compares the properties that `extent` names.
    pub(crate) fn verdict(&self, extent: Extent) -> Verdict {
        self.call(&self.arguments).and_then(|outcome| Ok(self.compare(&outcome, extent)?)).into()
    }

    /// Calls the operator with these arguments.
    pub(crate) fn call(&self, arguments: &[Datum]) -> Result<Outcome, Stop> {
        call(self.operator, to_values(arguments, self.device)?)
    }

    /// Compares an outcome with the recorded one.
    pub(crate) fn compare(&self, outcome: &Outcome, extent: Extent) -> Result<(), Failure> {
        let extent = outcome.known(extent);
        let read = read(self.operator, outcome)?;
        for (index, (actual, expected)) in read.results.iter().zip(&self.expected).enumerate() {
            if let Err(difference) = compare_to(extent, actual, expected)
                && !self.is_excused(&difference, extent, (actual, expected), Place::Result(index))
            {
                return Err(Failure::Result { index, difference });
            }
        }
        for (i, expected) in self.after.iter().flatten().enumerate() {
            let Some(expected) = expected else { continue };
            if let Err(difference) = compare_to(extent, &read.after[i], expected)
                && !self.is_excused(&difference, extent, (&read.after[i], expected), Place::Argument(i))
            {
                let argument = self.operator.schema().arguments[i].name.clone();
                return Err(Failure::Argument { argument, difference });
            }
        }
        Ok(())
    }

    /// Whether a difference is allowed: another index of equal elements, or a rounding error that is no larger than the recording's.
    fn is_excused(&self, difference: &Difference, extent: Extent, pair: (&Datum, &Datum), place: Place) -> bool {
        let ((Datum::Array(actual), Datum::Array(recorded)), Difference::Elements { .. }) = (pair, difference) else {
            return false;
        };
        if extent == Extent::All && actual.strides != recorded.strides {
            return false;
        }
        let (name, schema) = (self.operator.name(), self.operator.schema());
        if let Place::Result(index) = place
            && ties::free_indices(name, schema, &self.arguments) == Some(index)
        {
            return ties::select_equal(name, schema, &self.arguments, actual, recorded);
        }
        recorded.dtype.is_floating()
            && self
                .in_double(place)
                .is_some_and(|double| as_good(actual, recorded, double, || self.moved(place, double)))
    }

    /// Returns a result, or a written argument, of the call in double precision.
    fn in_double(&self, place: Place) -> Option<&Array> {
        let read = self.double.get_or_init(|| {
            let arguments: Vec<Datum> = self.arguments.iter().map(Datum::in_double).collect();
            read(self.operator, &self.call(&arguments).ok()?).ok()
        });
        read.as_ref()?.at(place)
    }

    /// Returns the largest change of a result in double precision if each element of the arguments changes by the rounding error of its
    /// dtype.
    fn moved(&self, place: Place, double: &Array) -> f64 {
        let seeds = 0..4;
        let distances = seeds.filter_map(|mut seed| {
            let arguments: Vec<Datum> = self.arguments.iter().map(|datum| datum.nudged(&mut seed)).collect();
            let read = read(self.operator, &self.call(&arguments).ok()?).ok()?;
            Some(farthest(read.at(place)?, double))
        });
        distances.fold(0.0, f64::max)
    }
}

/// Returns the largest finite distance between elements of two arrays.
fn farthest(one: &Array, other: &Array) -> f64 {
    let pairs = one.elements.iter().zip(&other.elements);
    let distances = pairs.map(|(&one, &other)| (complex(one) - complex(other)).norm());
    distances.filter(|distance| distance.is_finite()).fold(0.0, f64::max)
}

impl Read {
    pub(crate) fn all(&self) -> impl Iterator<Item = &Datum> {
        self.results.iter().chain(&self.after)
    }

    fn at(&self, place: Place) -> Option<&Array> {
        match place {
            Place::Result(index) => self.results.get(index)?.as_array(),
            Place::Argument(index) => self.after.get(index)?.as_array(),
        }
    }
}

fn recorded_gradients(call: &Call, schema: &Schema, arguments: &[Datum]) -> Result<Option<Recorded>> {
    if call.gradients.is_empty() {
        return Ok(None);
    }
    let mut widened = decode::arguments(&call.widened(), schema)?;
    for (widened, datum) in widened.iter_mut().zip(arguments) {
        *widened = widened.widened();
        if let (Datum::Array(widened), Datum::Array(array)) = (widened, datum) {
            widened.offset = array.offset;
        }
    }
    Ok(Some(Recorded { arguments: widened, gradients: call.gradients.clone() }))
}

/// Calls an operator, and checks shared and written memory against its schema.
pub(crate) fn call(operator: &'static Operator, given: Vec<Value>) -> Result<Outcome, Stop> {
    let versions: Vec<Vec<u64>> = given.iter().map(versions_of).collect();
    let drawn = Generator::reservation_count();
    let results = invoke(operator, given.clone())?;
    let is_arbitrary = is_unset(operator.name().base) || may_draw(operator) && Generator::reservation_count() != drawn;
    aliasing::check(operator, &given, &versions, &results)?;
    Ok(Outcome { given, results, is_arbitrary })
}

#[derive(Clone, Copy)]
enum Place {
    Result(usize),
    Argument(usize),
}

pub(crate) fn read(operator: &Operator, outcome: &Outcome) -> Result<Read> {
    let results = outcome.results.iter().map(Datum::read).collect::<Result<Vec<_>>>()?;
    let schema = operator.schema();
    let after = outcome.given.iter().enumerate().map(|(i, value)| {
        // An operator may return a written argument with another geometry.
        let returned = (0..results.len()).find(|&ret| schema.written_return(ret) == Some(i));
        returned.map_or_else(|| Datum::read(value), |ret| Ok(results[ret].clone()))
    });
    let after = after.collect::<Result<Vec<_>>>()?;
    Ok(Read { results, after })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Report, State, Suite};
    use kernels_cpu as _;

    /// Runs the suite on a recorded call whose expected elements cannot be the result of a random draw.
    fn judged(operator: &str, further: &str, result: &str) -> Report {
        let numbers = |dtype: &str, shape: &str, data: &str| {
            format!(r#"{{"tensor": {{"dtype": "{dtype}", "shape": {shape}, "strides": [1], "data": {data}}}}}"#)
        };
        let (this, out) = (numbers("f32", "[4]", "[0.5, 0.25, 0.5, 0.75]"), numbers(result, "[4]", "[41, 42, 43, 44]"));
        let line = format!(r#"{{"op": "{operator}", "args": [{this}{further}], "kwargs": {{}}, "out": {out}}}"#);
        Suite::new(Device::CPU).run_calls(&[Call::parse(&line).unwrap()])
    }

    #[test]
    fn a_call_that_draws_is_held_to_its_outline_in_every_check() {
        let calls = [
            ("aten::rand_like", ""),
            ("aten::randint_like", r#", {"int": 100}"#),
            ("aten::bernoulli_.float", r#", {"float": 0.5}"#),
            ("aten::exponential_", ""),
            ("aten::geometric_", r#", {"float": 0.1}"#),
            ("aten::poisson", ""),
            ("aten::rrelu", r#", {"float": -2.0}, {"float": -1.0}, {"bool": true}"#),
            ("aten::empty_like", ""),
            ("aten::new_empty", r#", {"list": [{"int": 4}]}"#),
        ];
        for (operator, further) in calls {
            let report = judged(operator, further, "f32");
            assert_eq!(report.count(State::Passed), 1, "{operator}: {:?}", report.failed());
            assert_eq!(judged(operator, further, "f64").count(State::Failed), 1, "{operator}");
        }
    }

    #[test]
    fn a_random_operator_that_draws_nothing_is_held_to_its_numbers() {
        let report = judged("aten::rrelu", r#", {"float": 0.25}, {"float": 0.5}, {"bool": false}"#, "f32");
        assert_eq!(report.count(State::Failed), 1);
    }
}
