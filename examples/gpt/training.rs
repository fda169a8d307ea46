//! The training of the model, with checkpoints.

use std::iter;
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use opdispatch::autograd;
use opdispatch::nn::checkpoint;
use opdispatch::nn::data::{DataLoader, DataLoaderOptions};
use opdispatch::optim::{
    AdamW, AdamWOptions, CosineAnnealingLR, LinearLR, LinearLROptions, ParamGroup, SequentialLR, clip_grad_norm_,
};
use opdispatch::prelude::*;

use crate::SEED;
use crate::losses::Losses;
use crate::model::Gpt;
use crate::text::Blocks;

const BATCH_SIZE: usize = 12;
const MAX_LR: f64 = 1e-3;
/// The number of steps between two measurements of the loss, each with a checkpoint.
const MEASURE_INTERVAL: usize = 100;
/// The number of batches of a measurement.
const MEASURED_BATCHES: usize = 20;

/// Trains the model up to the last of `steps` steps, from the first one or from the checkpoint in the folder.
pub(crate) fn train(
    model: &mut Gpt,
    [training, validation]: [Blocks; 2],
    steps: usize,
    folder: &Path,
    resume: bool,
) -> Result<Losses> {
    // Weight decay is for matrices.
    let (matrices, vectors) = model.parameters().into_iter().partition(|parameter| parameter.sizes().len() > 1);
    let options = AdamWOptions { lr: MAX_LR, betas: (0.9, 0.99), weight_decay: 0.1, ..AdamWOptions::default() };
    let mut optimizer = AdamW::with_groups([
        ParamGroup { params: matrices, options },
        ParamGroup { params: vectors, options: AdamWOptions { weight_decay: 0.0, ..options } },
    ])?;
    let mut schedule = warm_up_and_decay(&mut optimizer, steps)?;
    let shuffled = DataLoaderOptions { shuffle: true, seed: SEED, ..DataLoaderOptions::default() };
    let mut training = DataLoader::with(training, BATCH_SIZE, shuffled.clone())?;
    let validation = DataLoader::with(validation, BATCH_SIZE, shuffled)?;
    if training.is_empty() || validation.is_empty() {
        return Err("the text is too short; a hundredth of it must be longer than a block".into());
    }

    let path = folder.join("checkpoint.safetensors");
    let mut losses = Losses::default();
    if resume {
        checkpoint::load(
            &path,
            &mut [
                ("model", &mut *model),
                ("optimizer", &mut optimizer),
                ("schedule", &mut schedule),
                ("data", &mut training),
            ],
        )?;
        losses = Losses::read(folder)?;
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} steps, {per_sec}, {msg}").map_err(Error::kernel)?;
    let progress = ProgressBar::new(steps as u64).with_style(style).with_position(losses.last_step() as u64);
    println!("  step   training loss   validation loss");
    let mut latest = Vec::new();
    for (step, batch) in (losses.last_step() + 1..=steps).zip(iter::repeat(&training).flatten()) {
        let (tokens, next) = batch?;
        let loss = compute_loss(model, &tokens, &next)?;
        optimizer.zero_grad();
        loss.backward()?;
        clip_grad_norm_(&model.parameters(), 1.0)?;
        optimizer.step()?;
        schedule.step(&mut optimizer)?;

        let loss = loss.item::<f64>()?;
        latest.push(loss);
        progress.set_message(format!("loss {loss:.3}, rate {:.1e}", schedule.last_lr()[0]));
        progress.inc(1);
        if step % MEASURE_INTERVAL == 0 || step == steps {
            losses.add(step, mean(&latest), measure(model, &validation)?);
            latest.clear();
            progress.suspend(|| println!("{}", losses.last_line()));
            losses.write(folder)?;
            checkpoint::save(
                &path,
                &[("model", &*model), ("optimizer", &optimizer), ("schedule", &schedule), ("data", &training)],
            )?;
        }
    }
    progress.finish_and_clear();
    Ok(losses)
}

/// The rate rises in the first steps, and then falls to a tenth.
fn warm_up_and_decay(optimizer: &mut AdamW, steps: usize) -> Result<SequentialLR> {
    let warm_up_steps = steps / 20;
    let options = LinearLROptions { start_factor: 0.01, total_iters: warm_up_steps, ..LinearLROptions::default() };
    let warm_up = LinearLR::with(optimizer, options)?;
    let decay = CosineAnnealingLR::new(optimizer, (steps - warm_up_steps).max(1), MAX_LR / 10.0)?;
    SequentialLR::new(optimizer, vec![Box::new(warm_up), Box::new(decay)], [warm_up_steps])
}

fn compute_loss(model: &Gpt, tokens: &Tensor, next: &Tensor) -> Result<Tensor> {
    model.forward(tokens)?.flatten_dims(0, 1)?.cross_entropy(&next.flatten()?)
}

/// Returns the mean loss of some batches, without dropout.
fn measure(model: &mut Gpt, batches: &DataLoader<Blocks, (Tensor, Tensor)>) -> Result<f64> {
    let _no_grad = autograd::no_grad();
    model.eval();
    let losses = batches.into_iter().take(MEASURED_BATCHES).map(|batch| {
        let (tokens, next) = batch?;
        compute_loss(model, &tokens, &next)?.item::<f64>()
    });
    let losses = losses.collect::<Result<Vec<f64>>>();
    model.train();
    losses.map(|losses| mean(&losses))
}

#[expect(clippy::cast_precision_loss, reason = "a run has few steps")]
fn mean(losses: &[f64]) -> f64 {
    losses.iter().sum::<f64>() / losses.len() as f64
}
