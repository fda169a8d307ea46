//! Trains a character-level GPT, draws its loss, saves it, and samples from it.
//!
//! `cargo run --release --example gpt -- [--file TEXT] [--steps N] [--folder FOLDER] [--resume] [--sample N]`

mod arguments;
mod model;
#[path = "../plot/mod.rs"]
#[expect(dead_code, reason = "the drawings of other examples use more")]
mod plot;
mod text;
mod training;

use std::{env, fs};

use opdispatch::prelude::*;

use arguments::Arguments;
use model::{Gpt, GptConfig};
use text::Blocks;
use training::Run;

/// The number of characters that the model sees.
const BLOCK_SIZE: usize = 64;
const SEED: u64 = 1337;

fn main() -> Result<()> {
    let arguments = Arguments::parse(env::args().skip(1))?;
    opdispatch::manual_seed(SEED);
    let (vocabulary, training, validation) = text::load(arguments.file.as_deref())?;
    println!("{} characters, {} different ones", training.len() + validation.len(), vocabulary.len());
    let model = Gpt::new(&GptConfig {
        vocab_size: vocabulary.len(),
        block_size: 64,
        n_layer: 4,
        n_head: 4,
        n_embd: 128,
        dropout: 0.1,
    })?;
    println!("{} parameters\n", model.num_parameters());

    let blocks = |tokens| Blocks { tokens, block_size: BLOCK_SIZE };
    let mut run = Run::new(model, blocks(training), blocks(validation), arguments.steps)?;
    fs::create_dir_all(&arguments.folder)
        .map_err(|error| format!("cannot create {}: {error}", arguments.folder.display()))?;
    let checkpoint = arguments.folder.join("checkpoint.safetensors");
    if arguments.resume {
        run.load(&checkpoint)?;
    }
    run.train(&checkpoint)?;
    let curves = arguments.folder.join("loss.png");
    fs::write(&curves, run.draw_loss().to_png()?)
        .map_err(|error| format!("cannot write {}: {error}", curves.display()))?;
    println!("loss        {}\ncheckpoint  {}\n", curves.display(), checkpoint.display());

    let start = Tensor::from_slice(&vocabulary.encode("\n")).view((1, -1))?;
    let sample = run.model.generate(&start, arguments.sample, 0.8)?;
    println!("{}", vocabulary.decode(&sample.i(0)?.to_vec::<i64>()?));
    Ok(())
}
