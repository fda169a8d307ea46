//! The comparison of gradients.

use dispatch_autograd::{Differentiable, Differentiation};
use dispatch_nn::Module as _;
use dispatch_pt2::Program;
use dispatch_runtime::{Tensor, Value};

use super::Stage;
use super::recorded_program::{Dialect, RecordedProgram, StatePart, state, too_large};
use super::recording::RecordedRun;
use crate::difference::Difference;

/// If the gradients of the decomposed program in PyTorch itself differ by this much or more, they are not expected.
const LARGEST_OWN_DIFFERENCE: f64 = 0.1;

pub(super) fn is_recorded(program: &RecordedProgram<'_>) -> bool {
    program.recording.runs.iter().any(|run| !run.cotangents.is_empty())
}

/// Runs the program with gradients, and returns the largest difference as a part of its tolerance.
///
/// Decomposition drops regions without gradients. If PyTorch itself has other gradients then, or none, the runs only have to end.
pub(super) fn compare(program: &RecordedProgram<'_>) -> Stage {
    let own = program.recording.own_gradient_difference(program.dialect.name());
    let is_expected = program.dialect == Dialect::Raw || own.is_some_and(|own| own < LARGEST_OWN_DIFFERENCE);
    let mut largest = 0.0_f64;
    let result = program.for_each_run(|loaded, run| {
        if run.refused.is_none() {
            largest = largest.max(compare_run(program, loaded, run)?);
        }
        Ok(())
    });
    match result {
        Ok(()) if is_expected => Ok(Some(largest)),
        Err(reason) if is_expected => Err(reason),
        _ => Ok(None),
    }
}

fn compare_run(program: &RecordedProgram<'_>, loaded: &Program, run: &RecordedRun) -> Result<f64, String> {
    let text = |error: dispatch_runtime::Error| error.to_string();
    let mut inputs = program.recording.inputs(run)?;
    for &at in run.input_grads.keys() {
        if let Some(Value::Tensor(tensor)) = inputs.get_mut(at) {
            *tensor = tensor.clone().requires_grad_(true).map_err(text)?;
        }
    }
    loaded.zero_grad();
    let outputs = loaded.run_leaves(inputs.clone()).map_err(|error| error.to_string())?;
    let results = program.compare_results(loaded, run, &inputs, &outputs)?;
    let (mut differentiated, mut seeds) = (Vec::new(), Vec::new());
    for (&at, key) in &run.cotangents {
        let Some(Value::Tensor(output)) = outputs.get(at) else { return Err(format!("output {at} is no tensor")) };
        if output.requires_grad() {
            let seed = program.recording.tensor(key)?;
            let is_pair = output.dtype().is_complex() && !seed.dtype().is_complex();
            seeds.push(if is_pair { aten::view_as_complex(seed).map_err(text)? } else { seed.clone() });
            differentiated.push(output);
        }
    }
    if !differentiated.is_empty() {
        let seeds: Vec<&Tensor> = seeds.iter().collect();
        Differentiation::of_outputs(&differentiated).with_seeds(&seeds).backward().map_err(text)?;
    }
    let tolerance = program.tolerances(loaded, run)?.gradients;
    let difference = compare_gradients(program, loaded, run, &inputs)?.relative();
    if difference <= tolerance {
        Ok(results.max(difference / tolerance))
    } else {
        Err(too_large("gradients", difference, tolerance))
    }
}

fn compare_gradients(
    program: &RecordedProgram<'_>,
    loaded: &Program,
    run: &RecordedRun,
    inputs: &[Value],
) -> Result<Difference, String> {
    let mut difference = Difference::default();
    let state = state(loaded);
    let parameter = |name: &String| {
        let found = state.iter().find_map(|(known, part)| match part {
            StatePart::Param(param) if known == name => Some(param.tensor()),
            _ => None,
        });
        found.ok_or_else(|| format!("there is no parameter `{name}`"))
    };
    for (name, key) in &run.grads {
        let gradient = parameter(name)?.grad().ok_or_else(|| format!("parameter `{name}` has no gradient"))?;
        let added = difference.add(&gradient, program.recording.tensor(key)?);
        added.map_err(|reason| format!("gradient of `{name}`: {reason}"))?;
    }
    for name in &run.no_grads {
        if parameter(name)?.grad().is_some() {
            return Err(format!("parameter `{name}` has a gradient, and in PyTorch it has none"));
        }
    }
    for (&at, key) in &run.input_grads {
        let gradient = inputs.get(at).and_then(Value::as_tensor).and_then(Differentiable::grad);
        let gradient = gradient.ok_or_else(|| format!("input {at} has no gradient"))?;
        let added = difference.add(&gradient, program.recording.tensor(key)?);
        added.map_err(|reason| format!("gradient of input {at}: {reason}"))?;
    }
    Ok(difference)
}
