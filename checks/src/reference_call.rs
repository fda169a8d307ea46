//! A call of an operator with its expected outcome. The checks repeat it, each in another way.

use std::borrow::Cow;
use std::cell::OnceCell;

use dispatch_runtime::{DType, Device, Generator, Operator, Tensor, Value};
use dispatch_vmap::Strategy;

use crate::aliasing::{self, version_counters};
use crate::array::Array;
use crate::compare::{ComparedProperties, Difference, compare_properties, compare_results, is_as_precise_as_expected};
use crate::datum::{Datum, create_values};
use crate::error::Result;
use crate::known_operators::known_base;
use crate::reconstruction::unique_values;
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

/// A call of an operator with its expected outcome.
pub struct ReferenceCall {
    /// The operator.
    pub operator: &'static Operator,
    /// The device of the call.
    pub device: Device,
    /// The arguments, in the schema's order.
    pub arguments: Vec<Datum>,
    /// The expected results.
    pub expected: Vec<Datum>,
    /// The expected arguments after the call: `None` for each one that is not compared.
    pub after: Option<Vec<Option<Datum>>>,
    /// The arguments at which gradients are computed, in double precision, if the call is differentiated at given arguments.
    pub gradient_arguments: Option<Vec<Datum>>,
    /// The recorded gradients at [`gradient_arguments`](Self::gradient_arguments): `None` for a leaf that does not influence the results.
    pub gradients: Option<Vec<Option<Vec<f64>>>>,
    /// For each argument, whether a scalar stands for the tensor.
    pub scalar_arguments: Vec<bool>,
    double_precision: OnceCell<Option<HostOutcome>>,
    unpredictable: OnceCell<bool>,
}

/// The results of a call, and its arguments after the call.
pub struct Outcome {
    /// The arguments, after the call.
    pub given: Vec<Value>,
    /// The results.
    pub results: Vec<Value>,
    /// Whether the elements are unpredictable: random numbers, or uninitialized memory.
    pub is_unpredictable: bool,
}

impl Outcome {
    /// Restricts `properties` to the properties that can be compared: without elements if they are unpredictable.
    pub const fn comparable_properties(&self, properties: ComparedProperties) -> ComparedProperties {
        if self.is_unpredictable { properties.without_elements() } else { properties }
    }
}

/// The results and the final arguments of an [`Outcome`], copied to the host.
pub struct HostOutcome {
    /// The results.
    pub results: Vec<Datum>,
    /// The arguments after the call.
    pub after: Vec<Datum>,
}

impl ReferenceCall {
    /// Creates a call with arguments and expected results, and no other expectations.
    #[must_use]
    pub const fn new(operator: &'static Operator, device: Device, arguments: Vec<Datum>, expected: Vec<Datum>) -> Self {
        Self {
            operator,
            device,
            arguments,
            expected,
            after: None,
            gradient_arguments: None,
            gradients: None,
            scalar_arguments: Vec::new(),
            double_precision: OnceCell::new(),
            unpredictable: OnceCell::new(),
        }
    }

    /// Creates a call of another operator, whose expected results were derived from this call.
    #[must_use]
    pub fn derived_call(&self, operator: &'static Operator, arguments: Vec<Datum>, expected: Vec<Datum>) -> Self {
        Self::new(operator, self.device, arguments, expected)
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
    pub fn dtypes(&self) -> impl Iterator<Item = DType> {
        self.arguments.iter().chain(&self.expected).flat_map(|datum| match datum {
            Datum::NonTensor(Value::DType(dtype)) => vec![*dtype],
            datum => datum.arrays().into_iter().map(|array| array.dtype).collect(),
        })
    }

    /// Makes the reference call, and compares its outcome with the expected one and the schema.
    pub(crate) fn check_values(&self) -> Verdict {
        self.check(ComparedProperties::All)
    }

    /// Whether the elements of the results are unpredictable. This depends on the call and not on the operator: without training, many
    /// operators draw no random numbers.
    pub(crate) fn is_unpredictable(&self) -> bool {
        *self.unpredictable.get_or_init(|| self.call(&self.arguments).is_ok_and(|outcome| outcome.is_unpredictable))
    }

    /// Makes the call, and compares the properties that `properties` names.
    pub fn check(&self, properties: ComparedProperties) -> Verdict {
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
    pub fn call(&self, arguments: &[Datum]) -> Result<Outcome, CallError> {
        call_and_check_aliasing(self.operator, create_values(arguments, self.device)?)
    }

    /// Compares an outcome with the expected one.
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

    /// Whether the results are unique only up to sign, phase or order, and differ from the expected ones.
    pub(crate) fn has_other_representative(&self, results: &[Datum]) -> bool {
        self.unique_values(&self.expected).is_some()
            && compare_results(ComparedProperties::AllButStrides, results, &self.expected).is_err()
    }

    /// Whether a difference is allowed: another index of equal elements, or a rounding error that is no larger than that of the expected result.
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
                is_as_precise_as_expected(actual, recorded, double, || self.rounding_sensitivity(place, double))
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
    pub fn results_and_arguments(&self) -> impl Iterator<Item = &Datum> {
        self.results.iter().chain(&self.after)
    }

    fn array_at(&self, place: OutcomePosition) -> Option<&Array> {
        match place {
            OutcomePosition::Result(index) => self.results.get(index)?.as_array(),
            OutcomePosition::Argument(index) => self.after.get(index)?.as_array(),
        }
    }
}

/// Calls an operator, and checks shared and written memory against its schema.
pub fn call_and_check_aliasing(operator: &'static Operator, given: Vec<Value>) -> Result<Outcome, CallError> {
    let versions: Vec<Vec<u64>> = given.iter().map(version_counters).collect();
    let drawn = Generator::reservation_count();
    let results = call_catching_panics(operator, given.clone())?;
    let is_unpredictable = returns_uninitialized(known_base(operator.name()))
        || may_draw_random_numbers(operator) && Generator::reservation_count() != drawn;
    aliasing::check(operator, &given, &versions, &results)?;
    Ok(Outcome { given, results, is_unpredictable })
}

#[derive(Clone, Copy)]
enum OutcomePosition {
    Result(usize),
    Argument(usize),
}

/// Copies the results of a call, and its arguments after the call, to the host.
pub fn copy_outcome_to_host(operator: &Operator, outcome: &Outcome) -> Result<HostOutcome> {
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
