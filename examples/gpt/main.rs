//! Trains a character-level GPT, draws its loss, saves it, and samples from it.
//!
//! `cargo run --release --example gpt -- [--file TEXT] [--steps N] [--folder FOLDER] [--resume] [--sample N]`

mod arguments;
mod losses;
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

const SEED: u64 = 1337;

fn main() -> Result<()> {
    let Arguments { file, steps, folder, resume, sample } = Arguments::parse(env::args().skip(1))?;
    fs::create_dir_all(&folder).map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
    let (vocabulary, [training, validation]) = text::load(file.as_deref())?;
    println!("{} characters, {} different ones", training.len() + validation.len(), vocabulary.len());

    opdispatch::manual_seed(SEED);
    let config =
        GptConfig { vocab_size: vocabulary.len(), block_size: 64, n_layer: 4, n_head: 4, n_embd: 128, dropout: 0.1 };
    let mut model = Gpt::new(&config)?;
    println!("{}\n", model.summary());

    let blocks = [training, validation].map(|tokens| Blocks { tokens, block_size: 64 });
    let losses = training::train(&mut model, blocks, steps, &folder, resume)?;
    let diagram = folder.join("loss.png");
    fs::write(&diagram, losses.draw().to_png()?)
        .map_err(|error| format!("cannot write {}: {error}", diagram.display()))?;
    println!("the losses are drawn in {}, and the run is saved in {}\n", diagram.display(), folder.display());

    model.eval();
    let start = Tensor::from_slice(&vocabulary.encode("\n")).view((1, -1))?;
    let tokens = model.generate(&start, sample, 0.8)?;
    println!("{}", vocabulary.decode(&tokens.i(0)?.to_vec::<i64>()?));
    Ok(())
}
