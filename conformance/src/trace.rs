//! Checks of tracing: the graph of a call, traced with other elements, must return the results of the call.
//!
//! The kernels are the same, so results, aliasing, written arguments and seeded random numbers must agree bit by bit. This also holds for
//! the cleaned graph, for the printed and parsed graph, and for a graph that runs under a layer.

mod under;

use dispatch_runtime::{Result as Outcome, Scalar, Tensor, Value};
use dispatch_trace::{Graph, TraceError};

use crate::array::Array;
use crate::case::{Case, is_unset};
use crate::compare::{Difference, Extent, Tolerance, compare_to, differing};
use crate::datum::{Datum, to_values};
use crate::meta::depends_on_data;
use crate::tensors::to_array;
use crate::verdict::{Failure, Stop, Verdict, attempt};

use under::{Function, Made, Under};

/// Operators that may add uninitialized elements to a tensor.
const RESIZE: [&str; 2] = ["resize", "_resize_output"];

pub(crate) fn check(case: &Case) -> Vec<Verdict> {
    Trial { case }.verdicts().unwrap_or_else(|stop| vec![stop.into()])
}

struct Trial<'a> {
    case: &'a Case,
}

impl Trial<'_> {
    fn verdicts(&self) -> Result<Vec<Verdict>, Stop> {
        let (values, _) = self.arguments(Array::clone)?;
        let call = |inputs: &[Tensor]| self.call(&values, inputs);
        let expected = self.under(Under::Nothing, &call, Array::clone)?;
        let graph = match self.traced() {
            Ok(graph) => graph,
            Err(stop) if is_data_dependent(&stop) && depends_on_data(self.case.operator, &self.case.arguments) => {
                return Ok(vec![Verdict::Passed]);
            }
            Err(stop) => return Err(stop),
        };
        if graph.nodes().is_empty() {
            return Ok(vec![Verdict::LeftOut("it gives no tensor, so there is nothing to record")]);
        }
        let reread = |graph: &Graph| attempt(|| Graph::parse(&graph.to_string(), graph.constants()));
        let clean = graph.clean();
        let variants = [
            ("run again", Ok(graph.clone())),
            ("cleaned", Ok(clean.clone())),
            ("printed and parsed", reread(&graph)),
            ("cleaned, printed and parsed", reread(&clean)),
        ];
        let verdict = |(variant, graph): (&str, Result<Graph, Stop>)| {
            let replayed = |graph: Graph| self.under(Under::Nothing, &|inputs| graph.run(inputs), Array::clone);
            let compared = graph.and_then(|graph| self.compare(&replayed(graph)?, &expected));
            Verdict::from(compared).of(variant)
        };
        let mut verdicts: Vec<Verdict> = variants.into_iter().map(verdict).collect();
        for (layer, name) in Under::LAYERS {
            let compared = self.agree_under(layer, &call, &|inputs| clean.run(inputs));
            verdicts.push(Verdict::from(compared).of(name));
        }
        Ok(verdicts)
    }

    /// Checks that a graph and the call agree under a layer, or are refused with the same error.
    fn agree_under(&self, layer: Under, call: &Function<'_>, graph: &Function<'_>) -> Result<(), Stop> {
        let (expected, change): (_, fn(&Array) -> Array) = match self.under(layer, call, others) {
            Ok(made) => (Ok(made), others),
            Err(_) => (self.under(layer, call, Array::clone), Array::clone),
        };
        match (expected, self.under(layer, graph, change)) {
            (Ok(expected), Ok(actual)) => self.compare(&actual, &expected),
            (Ok(_), Err(stop)) | (Err(Stop::NotImplemented(_)), Err(stop @ Stop::NotImplemented(_))) => Err(stop),
            (Err(expected), Err(found)) => as_refused(&expected, &found),
            (Err(_), Ok(_)) => {
                Err(Failure::NotRefused { mistake: "what the call itself is refused".to_owned() }.into())
            }
        }
    }

    /// Runs a function on the recorded tensors under a layer. Vmap gets a batch of the recorded tensors and of changed ones.
    fn under(&self, layer: Under, f: &Function<'_>, change: impl Fn(&Array) -> Array) -> Result<Made, Stop> {
        let ((_, given), (_, others)) = (self.arguments(Array::clone)?, self.arguments(change)?);
        let written = self.written()?;
        self.settled(layer.run(f, given, &others, |at| written[at]))
    }

    /// Returns an outcome after synchronization: a device may report errors late.
    fn settled<T>(&self, outcome: Result<T, Stop>) -> Result<T, Stop> {
        let late = attempt(|| self.case.device.synchronize());
        outcome.and_then(|made| late.map(|()| made))
    }

    /// Returns, for each tensor of the call, whether the schema says that it is written.
    fn written(&self) -> Result<Vec<bool>, Stop> {
        let (values, _) = self.arguments(Array::clone)?;
        let arguments = values.iter().zip(&self.case.operator.schema().arguments);
        let each = arguments.flat_map(|(value, argument)| {
            value.tensors().filter(|tensor| !tensor.is_number()).map(|_| argument.is_written())
        });
        Ok(each.collect())
    }

    fn call(&self, values: &[Value], inputs: &[Tensor]) -> Outcome<Vec<Tensor>> {
        let mut values = values.to_vec();
        let tensors = values.iter_mut().flat_map(Value::tensors_mut).filter(|tensor| !tensor.is_number());
        tensors.zip(inputs).for_each(|(tensor, input)| *tensor = input.clone());
        let results = self.case.operator.call(values)?;
        Ok(results.iter().flat_map(Value::tensors).cloned().collect())
    }

    /// Traces the call with other elements, or with the recorded ones if the operator does not accept the others.
    fn traced(&self) -> Result<Graph, Stop> {
        let floats = |array: &Array| if array.dtype.is_floating() { others(array) } else { array.clone() };
        self.traced_with(others).or_else(|_| self.traced_with(floats)).or_else(|_| self.traced_with(Array::clone))
    }

    fn traced_with(&self, change: impl Fn(&Array) -> Array) -> Result<Graph, Stop> {
        let (values, given) = self.arguments(change)?;
        self.settled(attempt(|| dispatch_trace::trace(|inputs| self.call(&values, inputs), &given)))
    }

    /// Returns the call's arguments with changed elements, and the tensors among them. A recorded scalar stays a scalar.
    fn arguments(&self, change: impl Fn(&Array) -> Array) -> Result<(Vec<Value>, Vec<Tensor>), Stop> {
        let changed: Vec<Datum> = self.case.arguments.iter().map(|datum| datum.map(&change)).collect();
        let mut values = to_values(&changed, self.case.device)?;
        for (i, datum) in self.case.arguments.iter().enumerate() {
            if let (true, Some(array)) = (self.case.numbers.get(i) == Some(&true), datum.as_array())
                && let [number] = array.elements[..]
            {
                values[i] = Tensor::number(number).into();
            }
        }
        let given = values.iter().flat_map(Value::tensors).filter(|tensor| !tensor.is_number()).cloned().collect();
        Ok((values, given))
    }

    fn compare(&self, actual: &Made, expected: &Made) -> Result<(), Stop> {
        let base = self.case.operator.name().base.trim_end_matches('_');
        let extent = if is_unset(base) || RESIZE.contains(&base) { Extent::Geometry } else { Extent::All };
        let (found, wanted) = (actual.results.len(), expected.results.len());
        if found != wanted {
            return Err(Stop::Failed(Failure::Results { actual: found, expected: wanted }));
        }
        for (index, (one, other)) in actual.results.iter().zip(&expected.results).enumerate() {
            same(extent, one, other, |difference| Failure::Result { index, difference })?;
            let shares = |made: &Made, result: &Tensor| -> Vec<bool> {
                made.given.iter().map(|given| given.storage().same(result.storage())).collect()
            };
            let (found, wanted) = (shares(actual, one), shares(expected, other));
            if let Some(at) = (0..found.len()).find(|&at| found[at] != wanted[at]) {
                let argument = format!("tensor {at}");
                let failure = if wanted[at] {
                    Failure::NotShared { index, argument }
                } else {
                    Failure::Shared { index, argument }
                };
                return Err(failure.into());
            }
        }
        for (at, (one, other)) in actual.given.iter().zip(&expected.given).enumerate() {
            let argument = format!("tensor {at}");
            same(extent, one, other, |difference| Failure::Argument { argument, difference })?;
        }
        Ok(())
    }
}

/// Returns an array with its elements reversed, and floating-point and complex elements scaled by 0.75. Elements stay in the range of the
/// recorded ones.
fn others(array: &Array) -> Array {
    let smaller = |element: &Scalar| match *element {
        Scalar::Float(x) => Scalar::Float(x * 0.75),
        Scalar::Complex(x) => Scalar::Complex(x * 0.75),
        other => other,
    };
    Array { elements: array.elements.iter().rev().map(smaller).collect(), ..array.clone() }
}

/// Checks that two tensors have the same geometry and bits. All NaNs count as equal.
fn same(
    extent: Extent,
    actual: &Tensor,
    expected: &Tensor,
    failure: impl FnOnce(Difference) -> Failure,
) -> Result<(), Stop> {
    let (actual, expected) = (to_array(actual)?, to_array(expected)?);
    let exactly = Tolerance { relative: 0.0, absolute: 0.0 };
    let signs = |array: &Array| array.elements.iter().map(sign).collect::<Vec<_>>();
    let mut elements = differing(exactly, &actual.elements, &expected.elements)
        .or_else(|| differing(exactly, &signs(&actual), &signs(&expected)));
    elements = elements.filter(|_| extent == Extent::All);
    let geometry = compare_to(Extent::Geometry, &Datum::Array(actual), &Datum::Array(expected));
    geometry.and_then(|()| elements.map_or(Ok(()), Err)).map_err(|difference| Stop::Failed(failure(difference)))
}

/// Replaces a floating-point zero by 1 with its sign, so that signed zeros compare as different.
fn sign(element: &Scalar) -> Scalar {
    match *element {
        Scalar::Float(zero) if zero == 0.0 => Scalar::Float(1.0_f64.copysign(zero)),
        other => other,
    }
}

/// Checks that the graph was refused with the same message as the call: it makes the same calls.
fn as_refused(expected: &Stop, found: &Stop) -> Result<(), Stop> {
    let message = |stop: &Stop| match stop {
        Stop::NotImplemented(message) => message.clone(),
        Stop::Failed(failure) => failure.to_string(),
    };
    match (expected, found) {
        (Stop::Failed(Failure::Refused(one)), Stop::Failed(Failure::Refused(other)))
            if one.to_string() == other.to_string() =>
        {
            Ok(())
        }
        _ => Err(Stop::Failed(Failure::Otherwise { expected: message(expected), found: message(found) })),
    }
}

fn is_data_dependent(stop: &Stop) -> bool {
    let Stop::Failed(Failure::Refused(error)) = stop else { return false };
    let cause = std::error::Error::source(error).and_then(|source| source.downcast_ref());
    matches!(cause, Some(TraceError::DataDependent { .. }))
}
