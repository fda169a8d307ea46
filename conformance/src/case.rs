//! A recorded call of an operator, with its expected outcome. The checks call it any number of times.

use std::borrow::Cow;
use std::cell::OnceCell;

use dispatch_runtime::schema::Schema;
use dispatch_runtime::{DType, Device, Generator, Operator, Tensor, Value};
use dispatch_vmap::Strategy;

use crate::aliasing::{self, version_counters};
use crate::array::Array;
use crate::as_strided_offset;
use crate::compare::{ComparedProperties, Difference, compare_properties, compare_results, is_as_precise_as_recording};
use crate::datum::{Datum, create_values};
use crate::decode;
use crate::error::Result;
use crate::reconstruction::unique_values;
use crate::recording::Call;
use crate::tensors::to_complex;
use crate::ties;
use crate::verdict::{CallError, Failure, Verdict, call_catching_panics, catch_panics};

/// Operators that return uninitialized memory.
const UNINITIALIZED_OPERATORS: [&str; 7] =
    ["_make_dep_token", "empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"];

/// Whether an operator returns uninitialized memory.
pub(crate) fn returns_uninitialized(base: &str) -> bool {
    UNINITIALIZED_OPERATORS.contains(&base)
}

/// Whether an operator may draw random numbers. Of other operators, values are compared even if a random generator was used during the
/// call.
fn may_draw_random_numbers(operator: &'static Operator) -> bool {
    aten::is_random(operator) || Strategy::for_operator(operator) == Strategy::Decompose
}

pub(crate) struct Case {
    pub(crate) operator: &'static Operator,
    pub(crate) device: Device,
    pub(crate) arguments: Vec<Datum>,
    pub(crate) expected: Vec<Datum>,
    pub(crate) gradients: Option<RecordedGradients>,
    /// For each argument, whether the recording has a scalar for a tensor.
    pub(crate) scalar_arguments: Vec<bool>,
    after: Option<Vec<Option<Datum>>>,
    double_precision: OnceCell<Option<HostOutcome>>,
    unpredictable: OnceCell<bool>,
}

/// The gradients of a [`Call`], and the arguments at which they were computed.
pub(crate) struct RecordedGradients {
    pub(crate) arguments: Vec<Datum>,
    pub(crate) gradients: Vec<Option<Vec<f64>>>,
}

/// The results of a call, and its arguments after the call.
pub(crate) struct Outcome {
    pub(crate) given: Vec<Value>,
    pub(crate) results: Vec<Value>,
    /// Whether the elements are unpredictable: random numbers, or uninitialized memory.
    pub(crate) is_unpredictable: bool,
}

impl Outcome {
    /// Restricts `properties` to the properties that can be compared: without elements if they are unpredictable.
    pub(crate) const fn comparable_properties(&self, properties: ComparedProperties) -> ComparedProperties {
        if self.is_unpredictable { properties.without_elements() } else { properties }
    }
}

/// The results and the final arguments of an [`Outcome`], copied to the host.
pub(crate) struct HostOutcome {
    pub(crate) results: Vec<Datum>,
    pub(crate) after: Vec<Datum>,
}

impl Case {
    pub(crate) fn new(operator: &'static Operator, call: &Call, device: Device) -> Result<Self> {
        let schema = operator.schema();
        let (mut arguments, expected) =
            (decode::decode_arguments(call, schema)?, decode::decode_results(call, schema)?);
        if operator.name().base == "as_strided" {
            as_strided_offset::infer_as_strided_offset(&mut arguments, &expected);
        }
        Ok(Self {
            gradients: decode_recorded_gradients(call, schema, &arguments)?,
            scalar_arguments: (0..schema.arguments.len())
                .map(|i| decode::is_recorded_as_scalar(call, schema, i))
                .collect(),
            after: decode::decode_arguments_after(call, schema)?,
            ..Self::from_parts(operator, device, arguments, expected)
        })
    }

    /// Creates a call with arguments and expected results, and no other recorded data.
    const fn from_parts(
        operator: &'static Operator,
        device: Device,
        arguments: Vec<Datum>,
        expected: Vec<Datum>,
    ) -> Self {
        Self {
            operator,
            device,
            arguments,
            expected,
            gradients: None,
            scalar_arguments: Vec::new(),
            after: None,
            double_precision: OnceCell::new(),
            unpredictable: OnceCell::new(),
        }
    }

    /// Creates a call without a recorded outcome.
    pub(crate) fn without_recording(operator: &'static Operator, call: &Call, device: Device) -> Result<Self> {
        Ok(Self::from_parts(operator, device, decode::decode_arguments(call, operator.schema())?, Vec::new()))
    }

    /// Creates a call of another operator, whose expected results were derived from this call's recording.
    pub(crate) fn derived_call(
        &self,
        operator: &'static Operator,
        arguments: Vec<Datum>,
        expected: Vec<Datum>,
    ) -> Self {
        Self::from_parts(operator, self.device, arguments, expected)
    }

    /// Returns the call with equal arguments that have another memory layout.
    pub(crate) fn with_equal_arguments(&self, arguments: Vec<Datum>) -> Self {
        Self { after: self.after.clone(), ..self.derived_call(self.operator, arguments, self.expected.clone()) }
    }

    /// Returns the call with these arguments expected after it.
    pub(crate) fn with_arguments_after(self, after: Vec<Datum>) -> Self {
        Self { after: Some(after.into_iter().map(Some).collect()), ..self }
    }

    /// Returns the dtypes of the tensors among arguments and results, and the dtypes that are arguments themselves.
    pub(crate) fn dtypes(&self) -> impl Iterator<Item = DType> {
        self.arguments.iter().chain(&self.expected).flat_map(|datum| match datum {
            Datum::NonTensor(Value::DType(dtype)) => vec![*dtype],
            datum => datum.arrays().into_iter().map(|array| array.dtype).collect(),
        })
    }

    /// Makes the recorded call, and compares its outcome with the recording and the schema.
    pub(crate) fn check_values(&self) -> Verdict {
        self.check(ComparedProperties::All)
    }

    /// Whether the elements of the results are unpredictable. This depends on the call and not on the operator: without training, many
    /// operators draw no random numbers.
    pub(crate) fn is_unpredictable(&self) -> bool {
        *self.unpredictable.get_or_init(|| self.call(&self.arguments).is_ok_and(|outcome| outcome.is_unpredictable))
    }

    /// Makes the call, and compares the properties that `properties` names.
    pub(crate) fn check(&self, properties: ComparedProperties) -> Verdict {
        self.call(&self.arguments).and_then(|outcome| Ok(self.compare_outcome(&outcome, properties)?)).into()
    }

    /// Makes the call with each tensor of the arguments replaced, and compares the outcome.
    pub(crate) fn check_with_values(
        &self,
        replace: fn(&Tensor) -> dispatch_runtime::Result<Tensor>,
        properties: ComparedProperties,
    ) -> Verdict {
        let call = || -> Result<Outcome, CallError> {
            let mut given = create_values(&self.arguments, self.device)?;
            for tensor in given.iter_mut().flat_map(Value::tensors_mut) {
                *tensor = catch_panics(|| replace(tensor))?;
            }
            call_and_check_aliasing(self.operator, given)
        };
        call().and_then(|outcome| Ok(self.compare_outcome(&outcome, properties)?)).into()
    }

    /// Calls the operator with these arguments.
    pub(crate) fn call(&self, arguments: &[Datum]) -> Result<Outcome, CallError> {
        call_and_check_aliasing(self.operator, create_values(arguments, self.device)?)
    }

    /// Compares an outcome with the recorded one.
    pub(crate) fn compare_outcome(&self, outcome: &Outcome, properties: ComparedProperties) -> Result<(), Failure> {
        let properties = outcome.comparable_properties(properties);
        let mut read = copy_outcome_to_host(self.operator, outcome)?;
        let mut all_expected = Cow::Borrowed(&self.expected);
        if let (Some(actual), Some(expected)) = (self.unique_values(&read.results), self.unique_values(&self.expected))
        {
            compare_results(properties.without_elements(), &read.results, &self.expected)?;
            (read.results, all_expected) = (actual, Cow::Owned(expected));
        }
        for (index, (actual, expected)) in read.results.iter().zip(all_expected.iter()).enumerate() {
            if let Err(difference) = compare_properties(properties, actual, expected)
                && !self.is_allowed_difference(
                    &difference,
                    properties,
                    (actual, expected),
                    OutcomePosition::Result(index),
                )
            {
                return Err(Failure::WrongResult { index, difference });
            }
        }
        for (i, expected) in self.after.iter().flatten().enumerate() {
            let Some(expected) = expected else { continue };
            if matches!(all_expected, Cow::Owned(_)) && self.is_returned(i) {
                continue;
            }
            if let Err(difference) = compare_properties(properties, &read.after[i], expected)
                && !self.is_allowed_difference(
                    &difference,
                    properties,
                    (&read.after[i], expected),
                    OutcomePosition::Argument(i),
                )
            {
                let argument = self.operator.schema().arguments[i].name.clone();
                return Err(Failure::WrongArgumentAfterCall { argument, difference });
            }
        }
        Ok(())
    }

    /// Returns the values that stand for results of this call, if they are unique only up to sign, phase or order.
    fn unique_values(&self, results: &[Datum]) -> Option<Vec<Datum>> {
        unique_values(self.operator.name(), &self.arguments, results)
    }

    /// Whether the call returns a written argument.
    fn is_returned(&self, argument: usize) -> bool {
        let schema = self.operator.schema();
        (0..schema.returns.len()).any(|ret| schema.written_argument_of_return(ret) == Some(argument))
    }

    /// Whether the results are unique only up to sign, phase or order, and differ from the recorded ones.
    pub(crate) fn has_other_representative(&self, results: &[Datum]) -> bool {
        self.unique_values(&self.expected).is_some()
            && compare_results(ComparedProperties::AllButStrides, results, &self.expected).is_err()
    }

    /// Whether a difference is allowed: another index of equal elements, or a rounding error that is no larger than the recording's.
    fn is_allowed_difference(
        &self,
        difference: &Difference,
        properties: ComparedProperties,
        pair: (&Datum, &Datum),
        place: OutcomePosition,
    ) -> bool {
        let ((Datum::Array(actual), Datum::Array(recorded)), Difference::Elements { .. }) = (pair, difference) else {
            return false;
        };
        if properties == ComparedProperties::All && actual.strides != recorded.strides {
            return false;
        }
        let (name, schema) = (self.operator.name(), self.operator.schema());
        if let OutcomePosition::Result(index) = place
            && ties::ambiguous_index_result(name, schema, &self.arguments) == Some(index)
        {
            return ties::indices_select_equal_values(name, schema, &self.arguments, actual, recorded);
        }
        (recorded.dtype.is_floating() || recorded.dtype.is_complex())
            && self.double_precision_result(place).is_some_and(|double| {
                is_as_precise_as_recording(actual, recorded, double, || self.rounding_sensitivity(place, double))
            })
    }

    /// Returns a result, or a written argument, of the call in double precision.
    fn double_precision_result(&self, place: OutcomePosition) -> Option<&Array> {
        let read = self.double_precision.get_or_init(|| {
            let arguments: Vec<Datum> = self.arguments.iter().map(Datum::in_double_precision).collect();
            let mut read = copy_outcome_to_host(self.operator, &self.call(&arguments).ok()?).ok()?;
            if let Some(unique) = unique_values(self.operator.name(), &arguments, &read.results) {
                read.results = unique;
            }
            Some(read)
        });
        read.as_ref()?.array_at(place)
    }

    /// Returns the largest change of a result in double precision if each element of the arguments changes by the rounding error of its
    /// dtype.
    fn rounding_sensitivity(&self, place: OutcomePosition, double: &Array) -> f64 {
        let seeds = 0..4;
        let distances = seeds.filter_map(|mut seed| {
            let arguments: Vec<Datum> =
                self.arguments.iter().map(|datum| datum.with_rounding_errors(&mut seed)).collect();
            let read = copy_outcome_to_host(self.operator, &self.call(&arguments).ok()?).ok()?;
            Some(largest_distance(read.array_at(place)?, double))
        });
        distances.fold(0.0, f64::max)
    }
}

/// Returns the largest finite distance between elements of two arrays.
fn largest_distance(one: &Array, other: &Array) -> f64 {
    let pairs = one.elements.iter().zip(&other.elements);
    let distances = pairs.map(|(&one, &other)| (to_complex(one) - to_complex(other)).norm());
    distances.filter(|distance| distance.is_finite()).fold(0.0, f64::max)
}

impl HostOutcome {
    pub(crate) fn results_and_arguments(&self) -> impl Iterator<Item = &Datum> {
        self.results.iter().chain(&self.after)
    }

    fn array_at(&self, place: OutcomePosition) -> Option<&Array> {
        match place {
            OutcomePosition::Result(index) => self.results.get(index)?.as_array(),
            OutcomePosition::Argument(index) => self.after.get(index)?.as_array(),
        }
    }
}

fn decode_recorded_gradients(call: &Call, schema: &Schema, arguments: &[Datum]) -> Result<Option<RecordedGradients>> {
    if call.gradients.is_empty() {
        return Ok(None);
    }
    let mut widened = decode::decode_arguments(&call.with_f64_for_f32(), schema)?;
    for (widened, datum) in widened.iter_mut().zip(arguments) {
        *widened = widened.with_f64_for_f32();
        if let (Datum::Array(widened), Datum::Array(array)) = (widened, datum) {
            widened.offset = array.offset;
        }
    }
    Ok(Some(RecordedGradients { arguments: widened, gradients: call.gradients.clone() }))
}

/// Calls an operator, and checks shared and written memory against its schema.
pub(crate) fn call_and_check_aliasing(operator: &'static Operator, given: Vec<Value>) -> Result<Outcome, CallError> {
    let versions: Vec<Vec<u64>> = given.iter().map(version_counters).collect();
    let drawn = Generator::reservation_count();
    let results = call_catching_panics(operator, given.clone())?;
    let is_unpredictable = returns_uninitialized(operator.name().base)
        || may_draw_random_numbers(operator) && Generator::reservation_count() != drawn;
    aliasing::check(operator, &given, &versions, &results)?;
    Ok(Outcome { given, results, is_unpredictable })
}

#[derive(Clone, Copy)]
enum OutcomePosition {
    Result(usize),
    Argument(usize),
}

pub(crate) fn copy_outcome_to_host(operator: &Operator, outcome: &Outcome) -> Result<HostOutcome> {
    let results = outcome.results.iter().map(Datum::from_value).collect::<Result<Vec<_>>>()?;
    let schema = operator.schema();
    let after = outcome.given.iter().enumerate().map(|(i, value)| {
        // An operator may return a written argument with another geometry.
        let returned = (0..results.len()).find(|&ret| schema.written_argument_of_return(ret) == Some(i));
        returned.map_or_else(|| Datum::from_value(value), |ret| Ok(results[ret].clone()))
    });
    let after = after.collect::<Result<Vec<_>>>()?;
    Ok(HostOutcome { results, after })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OperatorState, Report, Suite};
    use kernels_cpu as _;

    /// Runs the suite on a recorded call whose expected elements cannot be the result of a random draw.
    fn run_recorded_call(operator: &str, further: &str, result: &str) -> Report {
        let numbers = |dtype: &str, shape: &str, data: &str| {
            format!(r#"{{"tensor": {{"dtype": "{dtype}", "shape": {shape}, "strides": [1], "data": {data}}}}}"#)
        };
        let (this, out) = (numbers("f32", "[4]", "[0.5, 0.25, 0.5, 0.75]"), numbers(result, "[4]", "[41, 42, 43, 44]"));
        let line = format!(r#"{{"op": "{operator}", "args": [{this}{further}], "kwargs": {{}}, "out": {out}}}"#);
        Suite::new(Device::CPU).run_calls(&[Call::parse(&line).unwrap()])
    }

    #[test]
    fn only_the_geometry_of_random_results_is_compared() {
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
            let report = run_recorded_call(operator, further, "f32");
            assert_eq!(report.operator_count(OperatorState::Passed), 1, "{operator}: {:?}", report.failed_checks());
            assert_eq!(
                run_recorded_call(operator, further, "f64").operator_count(OperatorState::Failed),
                1,
                "{operator}"
            );
        }
    }

    #[test]
    fn elements_are_compared_if_a_random_operator_draws_nothing() {
        let report = run_recorded_call("aten::rrelu", r#", {"float": 0.25}, {"float": 0.5}, {"bool": false}"#, "f32");
        assert_eq!(report.operator_count(OperatorState::Failed), 1);
    }
}
