//! The training of the model, with checkpoints.

use std::iter;
use std::path::Path;

use opdispatch::autograd;
use opdispatch::nn::checkpoint;
use opdispatch::nn::data::{DataLoader, DataLoaderOptions};
use opdispatch::optim::{AdamW, AdamWOptions, OneCycleLR, OneCycleLROptions, ParamGroup, clip_grad_norm_};
use opdispatch::prelude::*;

use crate::SEED;
use crate::model::Gpt;
use crate::progress::Losses;
use crate::text::Blocks;

const BATCH_SIZE: usize = 12;
const MAX_LR: f64 = 1e-3;
/// The number of steps between two measurements of the loss, each with a checkpoint.
const MEASURE_INTERVAL: usize = 100;
/// The number of batches of a measurement.
const MEASURED_BATCHES: usize = 20;

type Loader = DataLoader<Blocks, (Tensor, Tensor)>;

/// Trains the model up to the last of `steps` steps, from the first one or from the last checkpoint.
pub(crate) fn train(model: &mut Gpt, text: [Blocks; 2], steps: usize, path: &Path, resume: bool) -> Result<Losses> {
    // Weight decay is for matrices.
    let (matrices, vectors) = model.parameters().into_iter().partition(|parameter| parameter.sizes().len() > 1);
    let options = AdamWOptions { lr: MAX_LR, betas: (0.9, 0.99), weight_decay: 0.1, ..AdamWOptions::default() };
    let mut optimizer = AdamW::with_groups([
        ParamGroup { params: matrices, options },
        ParamGroup { params: vectors, options: AdamWOptions { weight_decay: 0.0, ..options } },
    ])?;
    let warm_up = OneCycleLROptions { pct_start: 0.05, cycle_momentum: false, ..OneCycleLROptions::default() };
    let mut schedule = OneCycleLR::with(&mut optimizer, &[MAX_LR; 2], steps + 1, warm_up)?;
    let shuffled = DataLoaderOptions { shuffle: true, seed: SEED, ..DataLoaderOptions::default() };
    let [training, validation] = text.map(|blocks| DataLoader::with(blocks, BATCH_SIZE, shuffled.clone()));
    let (mut training, validation): (Loader, Loader) = (training?, validation?);
    let mut losses = Losses::new(steps)?;
    if resume {
        let (optimizer, schedule, data) = (&mut optimizer, &mut schedule, &mut training);
        checkpoint::load(
            path,
            &mut [
                ("model", &mut *model),
                ("optimizer", optimizer),
                ("schedule", schedule),
                ("data", data),
                ("losses", &mut losses),
            ],
        )?;
    }
    for (step, batch) in (losses.last_step() + 1..=steps).zip(iter::repeat(&training).flatten()) {
        let loss = compute_loss(model, &batch?)?;
        optimizer.zero_grad();
        loss.backward()?;
        clip_grad_norm_(&model.parameters(), 1.0)?;
        optimizer.step()?;
        schedule.step(&mut optimizer)?;
        losses.add_training(loss.item()?, schedule.last_lr()[0]);
        if step % MEASURE_INTERVAL == 0 || step == steps {
            losses.add_validation(step, &measure(model, &validation)?);
            let (optimizer, schedule, data) = (&optimizer, &schedule, &training);
            checkpoint::save(
                path,
                &[
                    ("model", &*model),
                    ("optimizer", optimizer),
                    ("schedule", schedule),
                    ("data", data),
                    ("losses", &losses),
                ],
            )?;
        }
    }
    Ok(losses)
}

fn compute_loss(model: &Gpt, (tokens, next): &(Tensor, Tensor)) -> Result<Tensor> {
    model.forward(tokens)?.flatten_dims(0, 1)?.cross_entropy(&next.flatten()?)
}

/// Returns the losses of some batches, without dropout.
fn measure(model: &mut Gpt, batches: &Loader) -> Result<Vec<f64>> {
    let _no_grad = autograd::no_grad();
    model.eval();
    let losses = batches.into_iter().take(MEASURED_BATCHES).map(|batch| compute_loss(model, &batch?)?.item());
    let losses = losses.collect();
    model.train();
    losses
}
