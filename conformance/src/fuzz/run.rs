//! Runs trials and judges their outcomes.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dispatch_autograd::{Differentiable, Differentiation};
use dispatch_checks::Failure;
use dispatch_checks::plumbing::{CallError, call_mapped, panic_message, replace_tensors, to_array};
use dispatch_runtime::{Device, Error, ErrorKind, Operator, Result, Tensor, Value};
use dispatch_vmap::Randomness;

use super::graph;
use super::trial::{Call, Layers, Trial, TrialKind};

/// The outcome of a trial.
///
/// ```
/// use conformance::fuzz::{Outcome, Trial};
///
/// let trial = Trial::parse(r#"{"op": "aten::numel", "args": [{"int": 5}]}"#)?;
/// assert!(matches!(trial.run(), Outcome::Refused(error) if error.contains("Tensor")));
/// # Ok::<(), conformance::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// The call returned results whose geometries fit their storages.
    Results,
    /// The call returned a typed error, with this text.
    Refused(String),
    /// A defect: a panic, an impossible result, or an error of the framework itself.
    Finding(String),
}

impl Outcome {
    pub(super) fn from_error(error: &Error) -> Self {
        let text = error.to_string();
        match error.kind() {
            ErrorKind::WrongResult { .. } | ErrorKind::SurplusResults { .. } => Self::Finding(text),
            _ => Self::Refused(text),
        }
    }
}

impl Trial {
    /// Makes the call, or parses and runs the graph. A panic is an outcome. An abort ends the process, and an endless loop does not return.
    #[must_use]
    pub fn run(&self) -> Outcome {
        let run = || match &self.0 {
            TrialKind::Call(call) => call.run(),
            TrialKind::Graph(text) => graph::run_graph_text(text),
        };
        let panicked =
            |panic: Box<dyn std::any::Any + Send>| Outcome::Finding(format!("panicked: {}", panic_message(&*panic)));
        catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(panicked)
    }
}

impl Call {
    fn run(&self) -> Outcome {
        let operator = match Operator::find(&self.operator) {
            Ok(operator) => operator,
            Err(error) => return Outcome::from_error(&error),
        };
        let values = match self.create_values() {
            Ok(values) => values,
            Err(error) => return Outcome::Refused(error.to_string()),
        };
        let results = match self.layers {
            Layers::BackendOnly => operator.call(values),
            Layers::Autograd => call_with_gradients(operator, &values),
            Layers::Vmap(batches) => match call_under_vmap(operator, &values, batches) {
                Ok(results) => Ok(results),
                Err(CallError::Failed(Failure::Refused(error))) => Err(error),
                Err(CallError::NotImplemented(text)) => return Outcome::Refused(text),
                Err(CallError::Failed(failure)) => return Outcome::Finding(failure.to_string()),
            },
        };
        match results {
            Ok(results) => check_result_geometries(results.iter().flat_map(Value::tensors)),
            Err(error) => Outcome::from_error(&error),
        }
    }
}

/// Returns the results of a call, and their gradients with respect to its floating-point arguments.
fn call_with_gradients(operator: &'static Operator, values: &[Value]) -> Result<Vec<Value>> {
    let require = |tensor: &Tensor| {
        let can = tensor.dtype().is_floating() && !tensor.is_number();
        if can { tensor.clone().requires_grad_(true) } else { Ok(tensor.clone()) }
    };
    let inputs = values.iter().flat_map(Value::tensors).map(require).collect::<Result<Vec<_>>>()?;
    let mut results = operator.call(replace_tensors(values, &inputs))?;
    let of: Vec<&Tensor> = results.iter().flat_map(Value::tensors).filter(|result| result.requires_grad()).collect();
    let by: Vec<&Tensor> = inputs.iter().filter(|input| input.requires_grad()).collect();
    if of.is_empty() || by.is_empty() {
        return Ok(results);
    }
    let seeds = of.iter().map(|of| aten::ones_like(of, None, None, None, None, None)).collect::<Result<Vec<_>>>()?;
    let seeds: Vec<&Tensor> = seeds.iter().collect();
    let gradients = Differentiation::of_outputs(&of).with_seeds(&seeds).allow_unused().grad(&by)?;
    results.extend(gradients.into_iter().flatten().map(Value::from));
    Ok(results)
}

fn call_under_vmap(
    operator: &'static Operator,
    values: &[Value],
    batches: u64,
) -> std::result::Result<Vec<Value>, CallError> {
    let tensors = values.iter().flat_map(Value::tensors).enumerate();
    let is_batch = |(at, tensor): (usize, &Tensor)| batches >> (at % 64) & 1 == 1 && !tensor.sizes().is_empty();
    let dims = tensors.map(|tensor| is_batch(tensor).then_some(0)).collect();
    call_mapped(operator, values, &[dims], Randomness::Different)
}

/// Checks that the geometry of each result fits its storage.
pub(super) fn check_result_geometries<'a>(results: impl Iterator<Item = &'a Tensor>) -> Outcome {
    for (at, result) in results.enumerate() {
        if let Err(problem) = check_fits_storage(result) {
            return Outcome::Finding(format!("impossible result: number {at} {problem}"));
        }
    }
    Outcome::Results
}

fn check_fits_storage(result: &Tensor) -> std::result::Result<(), String> {
    let geometry = result.geometry();
    let shown =
        || format!("has sizes {:?}, strides {:?} and offset {}", result.sizes(), result.strides(), geometry.offset());
    let count = result.sizes().iter().try_fold(1_i64, |count, &size| count.checked_mul(size));
    if count != Some(geometry.count()) && !result.sizes().contains(&0) {
        return Err(format!("{}, which are {} elements", shown(), geometry.count()));
    }
    let bytes = geometry.end().and_then(|end| usize::try_from(end).ok()?.checked_mul(result.dtype().size()));
    let is_meta = result.device().key() == Device::META.key();
    let Some(bytes) = bytes else { return Err(format!("{}, which is outside of any memory", shown())) };
    if !is_meta && geometry.count() > 0 && bytes > result.storage().size() {
        return Err(format!("{} in a storage of {} bytes", shown(), result.storage().size()));
    }
    if !is_meta && geometry.count() < 10_000 {
        to_array(result).map_err(|error| format!("cannot be read: {error}"))?;
    }
    Ok(())
}
