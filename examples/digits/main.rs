//! Trains a small network on handwritten digits, and then prints the kernels that one call runs.
//!
//! `cargo run --release --example digits [adam|sgd] [folder]`

mod curves;
mod data;
mod font;
mod journey;
mod mistakes;
mod network;
mod optimiser;
mod picture;
mod profile;
mod training;
mod weights;

use std::path::{Path, PathBuf};
use std::{env, fs};

use indicatif::{ProgressBar, ProgressStyle};
use opdispatch::autocast;
use opdispatch::prelude::*;

use data::Digits;
use network::Network;
use optimiser::{Adam, Optimiser, Sgd};
use training::Epoch;

const SEED: u64 = 0;
const EPOCHS: u32 = 30;
/// The number of pictures for training; the others are for the test.
const TRAINING: i64 = 1437;

fn main() -> Result<()> {
    let mut arguments = env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "adam".to_owned());
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| "target/digits".to_owned()));

    opdispatch::manual_seed(SEED);
    let (training, test) = Digits::load()?.split(TRAINING)?;
    let network = Network::new()?;
    let mut optimiser = optimiser(&name, &network)?;
    println!("{} handwritten digits to learn from, {} to be tested with\n", training.count(), test.count());

    let epochs = learn(&network, &mut *optimiser, &training, &test)?;

    let predicted = training::predicted(&network, &test.pictures)?;
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

    let profile = profile::of_epoch(&fresh, &mut *self::optimiser(&name, &fresh)?, &training)?;
    println!("\nWhere the time of an epoch goes:\n\n{}\n", profile.top(8));
    let trace = write(&folder, "profile.json", &profile.trace()?)?;
    println!("profile   {}, for https://ui.perfetto.dev", trace.display());
    println!("          {:.1} % of the epoch is accounted for", 100.0 * profile.accounted());

    explain(&network, &test.pictures.i(..training::BATCH)?)
}

/// Trains the network, prints a line for each epoch, and returns the scores.
fn learn(network: &Network, optimiser: &mut dyn Optimiser, training: &Digits, test: &Digits) -> Result<Vec<Epoch>> {
    let steps = training.count().unsigned_abs().div_ceil(training::BATCH.unsigned_abs());
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} steps, {msg}").map_err(Error::kernel)?;
    let progress = ProgressBar::new(u64::from(EPOCHS) * steps).with_style(style);
    let mut epochs = Vec::new();
    println!("epoch   training: loss, accuracy   test: loss, accuracy   time of a step");
    for number in 1..=EPOCHS {
        let step = training::epoch(network, optimiser, training, &progress)?;
        let epoch = Epoch { training: training::score(network, training)?, test: training::score(network, test)? };
        progress.suspend(|| {
            let Epoch { training, test } = &epoch;
            let (known, new) = (100.0 * training.accuracy, 100.0 * test.accuracy);
            let step = 1e3 * step.as_secs_f64();
            println!("{number:5}{:18.4}{known:8.2} %{:14.4}{new:8.2} %{step:14.3} ms", training.loss, test.loss);
        });
        epochs.push(epoch);
    }
    progress.finish_and_clear();
    Ok(epochs)
}

/// Returns the optimiser with the name from the command line.
fn optimiser(name: &str, network: &Network) -> Result<Box<dyn Optimiser>> {
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

/// Prints the path of one call through the dispatcher.
fn explain(network: &Network, pictures: &Tensor) -> Result<()> {
    let [(_, weight), (_, bias), ..] = network.parameters();
    println!("\nThe journey of linear(pictures, weight, bias):\n");
    for (name, argument) in [("pictures", pictures), ("weight", &weight), ("bias", &bias)] {
        println!("{name:8} carries {}", argument.keys());
    }
    let _bfloat16 = autocast::enable(Device::CPU, DType::BF16)?;
    let call = || aten::linear(pictures, &weight, Some(&bias)).map(drop);
    // Autocast caches the weights that it casts. The log below is that of every call after the first.
    call()?;
    let journey = journey::of(call)?;
    print!("\n{journey}");
    Ok(())
}

/// Writes a file into the folder, which is created if it is missing.
fn write(folder: &Path, name: &str, contents: &[u8]) -> Result<PathBuf> {
    let path = folder.join(name);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&path, contents))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With all epochs, accuracy is about 98 %. The exact value depends on the seed, which other tests share.
    #[test]
    fn a_few_epochs_teach_it_to_read_most_digits() -> Result<()> {
        for name in ["adam", "sgd"] {
            let (training, test) = Digits::load()?.split(TRAINING)?;
            let network = Network::new()?;
            let mut optimiser = optimiser(name, &network)?;
            for _ in 0..8 {
                training::epoch(&network, &mut *optimiser, &training, &ProgressBar::hidden())?;
            }
            let score = training::score(&network, &test)?;
            assert!(score.accuracy > 0.92, "{name}: {score:?}");
        }
        Ok(())
    }
}
