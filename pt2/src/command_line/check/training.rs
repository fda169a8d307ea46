//! The comparison of a few training steps.

use std::collections::BTreeMap;

use aten::prelude::*;
use dispatch_autograd::Differentiable as _;
use dispatch_nn::Module as _;
use dispatch_optim::{AdamW, AdamWOptions, Optimizer, SGD, SGDOptions};
use dispatch_pt2::Program;
use dispatch_runtime::{Result as RuntimeResult, Tensor, Value};

use super::recorded_program::{Dialect, RecordedProgram, state, too_large};
use super::recording::{RecordedRun, RecordedSteps};
use crate::difference::elements;

/// The smallest tolerance of losses and norms.
const SMALLEST_TOLERANCE: f64 = 1e-3;

pub(super) fn is_recorded(program: &RecordedProgram<'_>) -> bool {
    program.dialect == Dialect::Raw && program.recording.training.is_some()
}

/// Trains the program with each recorded optimiser, and returns the largest difference as a part of its tolerance.
pub(super) fn compare(program: &RecordedProgram<'_>) -> Result<f64, String> {
    let (Some(training), Some(run)) = (&program.recording.training, program.recording.runs.first()) else {
        return Err("the recording has no run".to_owned());
    };
    let target = program.recording.tensor(&training.target)?;
    let tolerance = SMALLEST_TOLERANCE.max(10.0 * run.noise.grad.unwrap_or(0.0));
    let mut largest = 0.0_f64;
    if let Some(steps) = &training.sgd {
        let loaded = program.load()?;
        let options = sgd_options(steps);
        let optimizer = SGD::new(loaded.parameters(), options).map_err(|error| error.to_string())?;
        largest = largest.max(compare_steps("SGD", program, &loaded, run, target, optimizer, steps, tolerance)?);
    }
    if let Some(steps) = &training.adamw {
        let loaded = program.load()?;
        let options = adamw_options(steps);
        let optimizer = AdamW::new(loaded.parameters(), options).map_err(|error| error.to_string())?;
        largest = largest.max(compare_steps("AdamW", program, &loaded, run, target, optimizer, steps, tolerance)?);
    }
    Ok(largest)
}

fn sgd_options(steps: &RecordedSteps) -> SGDOptions {
    let (default, options) = (SGDOptions::default(), steps.options);
    SGDOptions {
        lr: options.lr.unwrap_or(default.lr),
        momentum: options.momentum.unwrap_or(default.momentum),
        weight_decay: options.weight_decay.unwrap_or(default.weight_decay),
        ..default
    }
}

fn adamw_options(steps: &RecordedSteps) -> AdamWOptions {
    let (default, options) = (AdamWOptions::default(), steps.options);
    AdamWOptions {
        lr: options.lr.unwrap_or(default.lr),
        betas: options.betas.unwrap_or(default.betas),
        eps: options.eps.unwrap_or(default.eps),
        weight_decay: options.weight_decay.unwrap_or(default.weight_decay),
        ..default
    }
}

#[expect(clippy::too_many_arguments, reason = "a step of training has many parts")]
fn compare_steps(
    name: &str,
    program: &RecordedProgram<'_>,
    loaded: &Program,
    run: &RecordedRun,
    target: &Tensor,
    mut optimizer: impl Optimizer,
    steps: &RecordedSteps,
    tolerance: f64,
) -> Result<f64, String> {
    let mut largest = 0.0_f64;
    let mut compare = |what: String, actual: f64, expected: f64| {
        let difference = (actual - expected).abs() / expected.abs().max(f64::MIN_POSITIVE);
        // A NaN is not within the tolerance.
        if difference <= tolerance {
            largest = largest.max(difference / tolerance);
            Ok(())
        } else {
            Err(format!("{} ({actual} in place of {expected})", too_large(&what, difference, tolerance)))
        }
    };
    for (step, &expected) in steps.losses.iter().enumerate() {
        let inputs = program.recording.inputs(run)?;
        let loss = training_step(loaded, inputs, target, &mut optimizer).map_err(|error| error.to_string())?;
        compare(format!("{name}, loss of step {step}"), loss, expected)?;
    }
    let norms = norms(loaded)?;
    for (parameter, &expected) in &steps.norms {
        let actual = norms.get(parameter).ok_or_else(|| format!("there is no parameter `{parameter}`"))?;
        compare(format!("{name}, norm of `{parameter}`"), *actual, expected)?;
    }
    Ok(largest)
}

/// Makes a step, and returns the loss before it.
fn training_step(
    program: &Program,
    inputs: Vec<Value>,
    target: &Tensor,
    optimizer: &mut impl Optimizer,
) -> RuntimeResult<f64> {
    optimizer.zero_grad();
    let outputs = program.run_leaves(inputs)?;
    let output = outputs.first().and_then(Value::as_tensor);
    let output = output.ok_or_else(|| dispatch_runtime::Error::kernel("the first output is no tensor"))?;
    let loss = (output - target)?.square()?.mean()?;
    loss.backward()?;
    optimizer.step()?;
    loss.item::<f64>()
}

/// Returns the Euclidean norm of each parameter.
fn norms(program: &Program) -> Result<BTreeMap<String, f64>, String> {
    let norm = |tensor: &Tensor| Ok(elements(tensor)?.iter().map(|element| element * element).sum::<f64>().sqrt());
    state(program).into_iter().map(|(name, part)| Ok((name, norm(&part.tensor())?))).collect()
}
