//! Teaches a small network to read handwritten digits, and then shows what the dispatcher did.
//!
//! `cargo run --release --example digits [adam|sgd] [folder]`

mod curves;
mod data;
mod font;
mod gradients;
mod journey;
mod mistakes;
mod network;
mod optimiser;
mod picture;
mod training;
mod weights;

use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{env, fs};

use indicatif::{ProgressBar, ProgressStyle};
use opdispatch::prelude::*;

use curves::Epoch;
use data::Digits;
use network::Network;
use optimiser::{Adam, Optimiser, Sgd};

const SEED: u64 = 0;
const EPOCHS: u32 = 30;
/// How many of the pictures the network learns from.
const TRAINING: i64 = 1437;

fn main() -> Result<()> {
    let mut arguments = env::args().skip(1);
    let optimiser = arguments.next().unwrap_or_else(|| "adam".to_owned());
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| "target/digits".to_owned()));

    opdispatch::manual_seed(SEED);
    let (training, test) = Digits::load()?.split(TRAINING)?;
    let network = Network::new()?;
    println!("{} handwritten digits to learn from, {} to be tested with\n", training.count(), test.count());

    let epochs = learn(&network, &mut *named(&optimiser, &network)?, &training, &test)?;

    let predicted = training::predicted(&network.forward(&test.pictures)?)?;
    let curves = write(&folder, "curves.png", &curves::draw(&epochs).png()?)?;
    let mistakes = write(&folder, "mistakes.png", &mistakes::draw(&test, &predicted)?.png()?)?;
    let weights = write(&folder, "weights.safetensors", &weights::save(&network)?)?;
    println!("curves    {}\nmistakes  {}\nweights   {}", curves.display(), mistakes.display(), weights.display());

    let fresh = Network::new()?;
    weights::load(&fresh, &fs::read(&weights).map_err(|error| format!("{}: {error}", weights.display()))?)?;
    let (before, after) = (training::score(&network, &test)?, training::score(&fresh, &test)?);
    if before != after {
        return Err(format!("the weights that were loaded back score {after:?} and not {before:?}").into());
    }
    println!("          loaded back into a fresh network: {:.2} %, as before", 100.0 * after.accuracy);

    journey(&network, &test)
}

/// Trains and says how it goes.
fn learn(network: &Network, optimiser: &mut dyn Optimiser, training: &Digits, test: &Digits) -> Result<Vec<Epoch>> {
    let steps = training.count().unsigned_abs().div_ceil(training::BATCH.unsigned_abs());
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} steps, {msg}").map_err(Error::kernel)?;
    let progress = ProgressBar::new(u64::from(EPOCHS) * steps).with_style(style);
    let mut epochs = Vec::new();
    println!("epoch    training            test                step");
    for number in 1..=EPOCHS {
        let start = Instant::now();
        training::epoch(network, optimiser, training, &progress)?;
        let step = start.elapsed().as_secs_f64() * 1e3;
        let epoch = Epoch { training: training::score(network, training)?, test: training::score(network, test)? };
        progress.suspend(|| {
            let score = |score: training::Score| format!("{:.4}  {:6.2} %", score.loss, 100.0 * score.accuracy);
            println!("{number:5}    {}    {}    {:.3} ms", score(epoch.training), score(epoch.test), step);
        });
        epochs.push(epoch);
    }
    progress.finish_and_clear();
    Ok(epochs)
}

/// The optimiser that the command line asks for.
fn named(name: &str, network: &Network) -> Result<Box<dyn Optimiser>> {
    let parameters = network.parameters().into_iter().map(|(_, parameter)| parameter).collect();
    match name {
        "adam" => Ok(Box::new(Adam::new(parameters, 3e-3)?)),
        "sgd" => {
            let mut sgd = Sgd::new(parameters, 0.1)?;
            sgd.momentum = 0.9;
            Ok(Box::new(sgd))
        }
        other => Err(format!("there is no optimiser `{other}` here: say `adam` or `sgd`").into()),
    }
}

/// Shows the way of one call.
fn journey(network: &Network, digits: &Digits) -> Result<()> {
    let [(_, weight), (_, bias), ..] = network.parameters();
    println!("\nlinear(pictures, weight, bias), which carry {}, goes this way:\n", digits.pictures.keys());
    let _printed = journey::printed();
    aten::linear(&digits.pictures, &weight, Some(&bias))?;
    Ok(())
}

fn write(folder: &Path, name: &str, contents: &[u8]) -> Result<PathBuf> {
    let path = folder.join(name);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&path, contents))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(path)
}
