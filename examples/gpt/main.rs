//! Trains a character-level GPT, draws its loss, saves it, and samples from it.
//!
//! `cargo run --release --example gpt -- [--file TEXT] [--steps N] [--folder FOLDER] [--resume] [--sample N]`

mod arguments;
mod model;
#[path = "../plot/mod.rs"]
#[expect(dead_code, reason = "the drawings of other examples use more")]
mod plot;
mod progress;
mod sampling;
mod text;
mod training;

use std::{env, fs};

use opdispatch::prelude::*;

use arguments::Arguments;
use model::{Gpt, GptConfig};

const SEED: u64 = 1337;
/// The number of characters that the model sees.
const BLOCK_SIZE: u32 = 64;

fn main() -> Result<()> {
    let Arguments { file, steps, folder, resume, sample } = Arguments::parse(env::args().skip(1))?;
    fs::create_dir_all(&folder).map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
    let (vocabulary, [training, validation]) = text::load(file.as_deref())?;
    println!(
        "{} characters, {} different ones\n",
        training.character_count() + validation.character_count(),
        vocabulary.len()
    );

    opdispatch::manual_seed(SEED);
    let mut model = Gpt::new(&GptConfig {
        vocab_size: vocabulary.len(),
        block_size: BLOCK_SIZE.into(),
        n_layer: 4,
        n_head: 4,
        n_embd: 128,
        dropout: 0.1,
    })?;
    println!("{}", model.summary());

    let checkpoint = folder.join("checkpoint.safetensors");
    let losses = training::train(&mut model, [training, validation], steps, &checkpoint, resume)?;
    let diagram = folder.join("loss.png");
    fs::write(&diagram, losses.draw().to_png()?)
        .map_err(|error| format!("cannot write {}: {error}", diagram.display()))?;
    println!("losses      {}\ncheckpoint  {}", diagram.display(), checkpoint.display());
    println!("\n{}", sampling::sample(&mut model, &vocabulary, sample)?);
    Ok(())
}
