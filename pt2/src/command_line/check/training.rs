//! The comparison of a few training steps.
//!
//! Some trainings amplify rounding: the gradient of a bias before a batch normalisation is zero but for rounding, and `AdamW` makes a full step
//! of it. So a quantity that differs from its recording is measured again, from parameters that are changed by rounding alone. Ten times
//! the change that this makes is the tolerance of that quantity, as ten times the recorded noise is the tolerance of others.

use std::collections::BTreeMap;

use aten::prelude::*;
use dispatch_autograd::Differentiable as _;
use dispatch_nn::Module as _;
use dispatch_optim::{AdamW, AdamWOptions, Optimizer, SGD, SGDOptions};
use dispatch_pt2::Program;
use dispatch_runtime::{Generator, Result as RuntimeResult, Tensor, Value, guard};

use super::recorded_program::{Dialect, RecordedProgram, StatePart, state, too_large};
use super::recording::{RecordedRun, RecordedSteps};
use crate::difference::elements;

/// The smallest tolerance of losses and norms.
const SMALLEST_TOLERANCE: f64 = 1e-3;
/// The multiple of the noise that is tolerated.
const NOISE_FACTOR: f64 = 10.0;
/// The relative change of a parameter that is smaller than the distance of two neighbouring numbers of 32 bits.
const ROUNDING: f64 = 1.0 / (1 << 24) as f64;
/// The seeds of the changed trainings.
const SEEDS: [u64; 4] = [1, 2, 3, 4];

pub(super) fn is_recorded(program: &RecordedProgram<'_>) -> bool {
    program.dialect == Dialect::Raw && program.recording.training.is_some()
}

/// Trains the program with each recorded optimiser, and returns the largest difference as a part of its tolerance. Adds a note for each
/// quantity that rounding alone changes by more than the usual tolerance.
pub(super) fn compare(program: &RecordedProgram<'_>, notes: &mut Vec<String>) -> Result<f64, String> {
    let (Some(training), Some(run)) = (&program.recording.training, program.recording.runs.first()) else {
        return Err("the recording has no run".to_owned());
    };
    let target = program.recording.tensor(&training.target)?;
    let session = Session { program, run, target };
    let mut largest = 0.0_f64;
    if let Some(steps) = &training.sgd {
        let start = |loaded: &Program| SGD::new(loaded.parameters(), sgd_options(steps));
        largest = largest.max(session.compare("SGD", steps, &start, notes)?);
    }
    if let Some(steps) = &training.adamw {
        let start = |loaded: &Program| AdamW::new(loaded.parameters(), adamw_options(steps));
        largest = largest.max(session.compare("AdamW", steps, &start, notes)?);
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

/// The program, the run and the target of a training.
struct Session<'a> {
    program: &'a RecordedProgram<'a>,
    run: &'a RecordedRun,
    target: &'a Tensor,
}

/// The losses of the steps and the norms of the parameters after them, by name.
type Quantities = BTreeMap<String, f64>;

impl Session<'_> {
    /// Trains with an optimiser, and returns the largest difference from the recording as a part of its tolerance.
    fn compare<O: Optimizer>(
        &self,
        name: &str,
        steps: &RecordedSteps,
        start: &impl Fn(&Program) -> RuntimeResult<O>,
        notes: &mut Vec<String>,
    ) -> Result<f64, String> {
        let count = steps.losses.len();
        let actual = self.train(count, start, None)?;
        let expected = recorded_quantities(steps);
        let tolerance = SMALLEST_TOLERANCE.max(NOISE_FACTOR * self.run.noise.grad.unwrap_or(0.0));
        let (mut largest, mut changed) = (0.0_f64, Vec::new());
        for (quantity, &expected) in &expected {
            let own = *actual.get(quantity).ok_or_else(|| format!("there is no {quantity}"))?;
            let difference = relative(own, expected);
            let mut tolerance = tolerance;
            if is_beyond(difference, tolerance) {
                if changed.is_empty() {
                    changed =
                        SEEDS.map(|seed| self.train(count, start, Some(seed))).into_iter().collect::<Result<_, _>>()?;
                }
                let noise =
                    changed.iter().filter_map(|changed| changed.get(quantity)).map(|value| relative(*value, own));
                let noise = noise.fold(0.0, f64::max);
                tolerance = tolerance.max(NOISE_FACTOR * noise);
                if is_beyond(difference, tolerance) {
                    let reason = too_large(&format!("{name}, {quantity}"), difference, tolerance);
                    return Err(format!("{reason} ({own} in place of {expected})"));
                }
                notes.push(format!(
                    "{name}, {quantity}: the relative difference is {difference:.1e}; rounding of the parameters alone changes it by {noise:.1e}"
                ));
            }
            largest = largest.max(difference / tolerance);
        }
        Ok(largest)
    }

    /// Trains the program, from parameters that are changed by rounding if there is a seed.
    fn train<O: Optimizer>(
        &self,
        steps: usize,
        start: &impl Fn(&Program) -> RuntimeResult<O>,
        seed: Option<u64>,
    ) -> Result<Quantities, String> {
        let text = |error: dispatch_runtime::Error| error.to_string();
        let loaded = self.program.load()?;
        if let Some(seed) = seed {
            change_by_rounding(&loaded, seed).map_err(text)?;
        }
        let mut optimizer = start(&loaded).map_err(text)?;
        let mut quantities = Quantities::new();
        for step in 0..steps {
            let inputs = self.program.recording.inputs(self.run)?;
            let loss = training_step(&loaded, inputs, self.target, &mut optimizer).map_err(text)?;
            quantities.insert(loss_name(step), loss);
        }
        for (name, part) in state(&loaded) {
            if let StatePart::Param(param) = part {
                let squares = elements(&param)?.into_iter().map(|element| element * element);
                quantities.insert(norm_name(&name), squares.sum::<f64>().sqrt());
            }
        }
        Ok(quantities)
    }
}

fn recorded_quantities(steps: &RecordedSteps) -> Quantities {
    let losses = steps.losses.iter().enumerate().map(|(step, &loss)| (loss_name(step), loss.0));
    losses.chain(steps.norms.iter().map(|(name, &norm)| (norm_name(name), norm.0))).collect()
}

fn loss_name(step: usize) -> String {
    format!("loss of step {step}")
}

fn norm_name(parameter: &str) -> String {
    format!("norm of `{parameter}`")
}

/// Whether a difference is larger than the tolerance. A NaN is within no tolerance.
fn is_beyond(difference: f64, tolerance: f64) -> bool {
    difference.is_nan() || difference > tolerance
}

/// Returns the relative difference, which is zero if both numbers are not finite.
fn relative(actual: f64, expected: f64) -> f64 {
    if !actual.is_finite() && !expected.is_finite() {
        return 0.0;
    }
    (actual - expected).abs() / expected.abs().max(f64::MIN_POSITIVE)
}

/// Changes each element of each parameter by at most the rounding of its dtype.
fn change_by_rounding(program: &Program, seed: u64) -> RuntimeResult<()> {
    let _no_grad = guard::no_grad();
    let _numbers = Generator::new(dispatch_runtime::Device::CPU, seed).make_default();
    for parameter in program.parameters() {
        let factor = ((parameter.rand_like()? - 0.5)? * (4.0 * ROUNDING))?;
        parameter.tensor().add_(&(&parameter.tensor() * &factor)?)?;
    }
    Ok(())
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
