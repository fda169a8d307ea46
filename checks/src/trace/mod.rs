//! Checks of tracing: the graph of a call, traced with other elements, must return the results of the call.
//!
//! The kernels are the same, so results, aliasing, written arguments and seeded random numbers must agree bit by bit. This also holds for
//! the cleaned graph, for the printed and parsed graph, and for a graph that runs under a layer.

mod layer;

use dispatch_runtime::{Result as Outcome, Scalar, Tensor, Value};
use dispatch_trace::{Graph, TraceError};

use crate::array::Array;
use crate::compare::{ComparedProperties, Difference, Tolerance, compare_properties, first_difference};
use crate::datum::{Datum, create_values};
use crate::known_operators::known_base;
use crate::meta::depends_on_data;
use crate::reference_call::{ReferenceCall, returns_uninitialized};
use crate::tensors::to_array;
use crate::verdict::{CallError, Failure, Verdict, catch_panics};

use layer::{Layer, RunOutcome, TensorFunction};

/// Operators that may add uninitialized elements to a tensor.
const RESIZE_OPERATORS: [&str; 2] = ["resize", "_resize_output"];

pub(crate) fn check(case: &ReferenceCall) -> Vec<Verdict> {
    TraceCheck { case }.verdicts().unwrap_or_else(|error| vec![error.into()])
}

struct TraceCheck<'a> {
    case: &'a ReferenceCall,
}

impl TraceCheck<'_> {
    fn verdicts(&self) -> Result<Vec<Verdict>, CallError> {
        let (values, _) = self.changed_arguments(Array::clone)?;
        let call = |inputs: &[Tensor]| self.call_with_inputs(&values, inputs);
        let expected = self.run_under_layer(Layer::None, &call, Array::clone)?;
        let graph = match self.trace_call() {
            Ok(graph) => graph,
            Err(error)
                if is_data_dependent_error(&error) && depends_on_data(self.case.operator, &self.case.arguments) =>
            {
                return Ok(vec![Verdict::Passed]);
            }
            Err(error) => return Err(error),
        };
        if graph.nodes().is_empty() {
            return Ok(vec![Verdict::NotApplicable("it returns no tensor, so there is nothing to record")]);
        }
        let reread = |graph: &Graph| catch_panics(|| Graph::parse(&graph.to_string(), graph.constants()));
        let clean = graph.clean();
        let variants = [
            ("run again", Ok(graph.clone())),
            ("cleaned", Ok(clean.clone())),
            ("printed and parsed", reread(&graph)),
            ("cleaned, printed and parsed", reread(&clean)),
        ];
        let verdict = |(variant, graph): (&str, Result<Graph, CallError>)| {
            let replayed = |graph: Graph| self.run_under_layer(Layer::None, &|inputs| graph.run(inputs), Array::clone);
            let compared = graph.and_then(|graph| self.compare_runs(&replayed(graph)?, &expected));
            Verdict::from(compared).with_context(variant)
        };
        let mut verdicts: Vec<Verdict> = variants.into_iter().map(verdict).collect();
        for (layer, name) in Layer::CHECKED_LAYERS {
            let compared = self.compare_under_layer(layer, &call, &|inputs| clean.run(inputs));
            verdicts.push(Verdict::from(compared).with_context(name));
        }
        Ok(verdicts)
    }

    /// Checks that a graph and the call agree under a layer, or are refused with the same error.
    fn compare_under_layer(
        &self,
        layer: Layer,
        call: &TensorFunction<'_>,
        graph: &TensorFunction<'_>,
    ) -> Result<(), CallError> {
        let (expected, change): (_, fn(&Array) -> Array) = match self.run_under_layer(layer, call, with_other_elements)
        {
            Ok(made) => (Ok(made), with_other_elements),
            Err(_) => (self.run_under_layer(layer, call, Array::clone), Array::clone),
        };
        match (expected, self.run_under_layer(layer, graph, change)) {
            (Ok(expected), Ok(actual)) => self.compare_runs(&actual, &expected),
            (Ok(_), Err(error)) | (Err(CallError::NotImplemented(_)), Err(error @ CallError::NotImplemented(_))) => {
                Err(error)
            }
            (Err(expected), Err(found)) => compare_errors(&expected, &found),
            (Err(_), Ok(_)) => {
                Err(Failure::NotRefused { mistake: "arguments that the call itself refuses".to_owned() }.into())
            }
        }
    }

    /// Runs a function on the given tensors under a layer. Vmap gets a batch of the given tensors and of changed ones.
    fn run_under_layer(
        &self,
        layer: Layer,
        f: &TensorFunction<'_>,
        change: impl Fn(&Array) -> Array,
    ) -> Result<RunOutcome, CallError> {
        let ((_, given), (_, others)) = (self.changed_arguments(Array::clone)?, self.changed_arguments(change)?);
        let written = self.written_flags()?;
        self.after_synchronization(layer.run(f, given, &others, |at| written[at]))
    }

    /// Returns an outcome after synchronization: a device may report errors late.
    fn after_synchronization<T>(&self, outcome: Result<T, CallError>) -> Result<T, CallError> {
        let late = catch_panics(|| self.case.device.synchronize());
        outcome.and_then(|made| late.map(|()| made))
    }

    /// Returns, for each tensor of the call, whether the schema says that it is written.
    fn written_flags(&self) -> Result<Vec<bool>, CallError> {
        let (values, _) = self.changed_arguments(Array::clone)?;
        let arguments = values.iter().zip(&self.case.operator.schema().arguments);
        let each = arguments.flat_map(|(value, argument)| {
            value.tensors().filter(|tensor| !tensor.is_number()).map(|_| argument.is_written())
        });
        Ok(each.collect())
    }

    fn call_with_inputs(&self, values: &[Value], inputs: &[Tensor]) -> Outcome<Vec<Tensor>> {
        let mut values = values.to_vec();
        let tensors = values.iter_mut().flat_map(Value::tensors_mut).filter(|tensor| !tensor.is_number());
        tensors.zip(inputs).for_each(|(tensor, input)| *tensor = input.clone());
        let results = self.case.operator.call(values)?;
        Ok(results.iter().flat_map(Value::tensors).cloned().collect())
    }

    /// Traces the call with other elements, or with the given ones if the operator does not accept the others.
    fn trace_call(&self) -> Result<Graph, CallError> {
        let floats = |array: &Array| if array.dtype.is_floating() { with_other_elements(array) } else { array.clone() };
        self.trace_with_changed_elements(with_other_elements)
            .or_else(|_| self.trace_with_changed_elements(floats))
            .or_else(|_| self.trace_with_changed_elements(Array::clone))
    }

    fn trace_with_changed_elements(&self, change: impl Fn(&Array) -> Array) -> Result<Graph, CallError> {
        let (values, given) = self.changed_arguments(change)?;
        self.after_synchronization(catch_panics(|| {
            dispatch_trace::trace(|inputs| self.call_with_inputs(&values, inputs), &given)
        }))
    }

    /// Returns the call's arguments with changed elements, and the tensors among them. A scalar stays a scalar.
    fn changed_arguments(&self, change: impl Fn(&Array) -> Array) -> Result<(Vec<Value>, Vec<Tensor>), CallError> {
        let changed: Vec<Datum> = self.case.arguments.iter().map(|datum| datum.map_arrays(&change)).collect();
        let mut values = create_values(&changed, self.case.device)?;
        for (i, datum) in self.case.arguments.iter().enumerate() {
            if let (true, Some(array)) = (self.case.scalar_arguments.get(i) == Some(&true), datum.as_array())
                && let [number] = array.elements[..]
            {
                values[i] = Tensor::number(number).into();
            }
        }
        let given = values.iter().flat_map(Value::tensors).filter(|tensor| !tensor.is_number()).cloned().collect();
        Ok((values, given))
    }

    fn compare_runs(&self, actual: &RunOutcome, expected: &RunOutcome) -> Result<(), CallError> {
        let base = known_base(self.case.operator.name()).trim_end_matches('_');
        let properties = if returns_uninitialized(base) || RESIZE_OPERATORS.contains(&base) {
            ComparedProperties::AllButElements
        } else {
            ComparedProperties::All
        };
        let (found, wanted) = (actual.results.len(), expected.results.len());
        if found != wanted {
            return Err(CallError::Failed(Failure::WrongResultCount { actual: found, expected: wanted }));
        }
        for (index, (one, other)) in actual.results.iter().zip(&expected.results).enumerate() {
            compare_bits(properties, one, other, |difference| Failure::WrongResult { index, difference })?;
            let shares = |made: &RunOutcome, result: &Tensor| -> Vec<bool> {
                made.given.iter().map(|given| given.storage().same(result.storage())).collect()
            };
            let (found, wanted) = (shares(actual, one), shares(expected, other));
            if let Some(at) = (0..found.len()).find(|&at| found[at] != wanted[at]) {
                let argument = format!("tensor {at}");
                let failure = if wanted[at] {
                    Failure::MissingSharing { index, argument }
                } else {
                    Failure::UnexpectedSharing { index, argument }
                };
                return Err(failure.into());
            }
        }
        for (at, (one, other)) in actual.given.iter().zip(&expected.given).enumerate() {
            let argument = format!("tensor {at}");
            compare_bits(properties, one, other, |difference| Failure::WrongArgumentAfterCall {
                argument,
                difference,
            })?;
        }
        Ok(())
    }
}

/// Returns an array with its elements reversed, and floating-point and complex elements scaled by 0.75. Elements stay in the range of the
/// given ones.
fn with_other_elements(array: &Array) -> Array {
    let smaller = |element: &Scalar| match *element {
        Scalar::Float(x) => Scalar::Float(x * 0.75),
        Scalar::Complex(x) => Scalar::Complex(x * 0.75),
        other => other,
    };
    Array { elements: array.elements.iter().rev().map(smaller).collect(), ..array.clone() }
}

/// Checks that two tensors have the same geometry and bits. All NaNs count as equal.
fn compare_bits(
    properties: ComparedProperties,
    actual: &Tensor,
    expected: &Tensor,
    failure: impl FnOnce(Difference) -> Failure,
) -> Result<(), CallError> {
    let (actual, expected) = (to_array(actual)?, to_array(expected)?);
    let exactly = Tolerance { relative: 0.0, absolute: 0.0 };
    let signs = |array: &Array| array.elements.iter().map(signed_one_for_zero).collect::<Vec<_>>();
    let mut elements = first_difference(exactly, &actual.elements, &expected.elements)
        .or_else(|| first_difference(exactly, &signs(&actual), &signs(&expected)));
    elements = elements.filter(|_| properties == ComparedProperties::All);
    let geometry =
        compare_properties(ComparedProperties::AllButElements, &Datum::Array(actual), &Datum::Array(expected));
    geometry.and_then(|()| elements.map_or(Ok(()), Err)).map_err(|difference| CallError::Failed(failure(difference)))
}

/// Replaces a floating-point zero by 1 with its sign, so that signed zeros compare as different.
fn signed_one_for_zero(element: &Scalar) -> Scalar {
    match *element {
        Scalar::Float(zero) if zero == 0.0 => Scalar::Float(1.0_f64.copysign(zero)),
        other => other,
    }
}

/// Checks that the graph was refused with the same message as the call: it makes the same calls.
fn compare_errors(expected: &CallError, found: &CallError) -> Result<(), CallError> {
    let message = |error: &CallError| match error {
        CallError::NotImplemented(message) => message.clone(),
        CallError::Failed(failure) => failure.to_string(),
    };
    match (expected, found) {
        (CallError::Failed(Failure::Refused(one)), CallError::Failed(Failure::Refused(other)))
            if one.to_string() == other.to_string() =>
        {
            Ok(())
        }
        _ => Err(CallError::Failed(Failure::DifferentError { expected: message(expected), found: message(found) })),
    }
}

fn is_data_dependent_error(error: &CallError) -> bool {
    let CallError::Failed(Failure::Refused(error)) = error else { return false };
    let cause = std::error::Error::source(error).and_then(|source| source.downcast_ref());
    matches!(cause, Some(TraceError::DataDependent { .. }))
}
