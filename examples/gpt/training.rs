//! The training run: the model, its optimiser and schedule, the data, and the losses so far.

use std::path::Path;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use opdispatch::nn::checkpoint;
use opdispatch::nn::data::{DataLoader, DataLoaderOptions};
use opdispatch::optim::{self, AdamW, AdamWOptions, CosineAnnealingLR, LinearLR, ParamGroup, SequentialLR};
use opdispatch::prelude::*;

use crate::SEED;
use crate::model::Gpt;
use crate::plot::curves::{Curve, Panel, draw_panels};
use crate::plot::picture::{BLUE, Picture, RED};
use crate::text::Blocks;

const BATCH_SIZE: usize = 12;
const WARMUP_STEPS: u64 = 100;
/// The number of steps between two measurements of the loss.
const MEASURE_INTERVAL: u64 = 100;

pub(crate) struct Run {
    pub(crate) model: Gpt,
    optimizer: AdamW,
    schedule: SequentialLR,
    training: DataLoader<Blocks>,
    validation: DataLoader<Blocks>,
    steps: u64,
    losses: Losses,
}

impl Run {
    pub(crate) fn new(model: Gpt, training: Blocks, validation: Blocks, steps: u64) -> Result<Self> {
        // Weight decay is for matrices.
        let (matrices, vectors) = model.parameters().into_iter().partition(|parameter| parameter.sizes().len() > 1);
        let options = AdamWOptions { lr: 1e-3, betas: (0.9, 0.99), weight_decay: 0.1, ..AdamWOptions::default() };
        let mut optimizer = AdamW::with_groups([
            ParamGroup { params: matrices, options },
            ParamGroup { params: vectors, options: AdamWOptions { weight_decay: 0.0, ..options } },
        ])?;
        let schedule = warmup_and_decay(&mut optimizer, steps)?;
        let shuffled = DataLoaderOptions { shuffle: true, seed: SEED, ..DataLoaderOptions::default() };
        Ok(Self {
            model,
            optimizer,
            schedule,
            training: DataLoader::with(training, BATCH_SIZE, shuffled)?,
            validation: DataLoader::with(validation, BATCH_SIZE, shuffled)?,
            steps,
            losses: Losses::default(),
        })
    }
}
