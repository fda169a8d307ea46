//! Trains a small network on handwritten digits, and then prints the kernels that one call runs.
//!
//! `cargo run --release --example digits [adam|sgd] [folder]`

mod call_log;
mod data;
mod misclassified;
mod network;
#[path = "../plot/mod.rs"]
mod plot;
mod profile;
mod training;

use std::path::{Path, PathBuf};
use std::{env, fs};

use indicatif::{ProgressBar, ProgressStyle};
use opdispatch::optim::{Adam, AdamOptions, SGD, SGDOptions};
use opdispatch::prelude::*;
use opdispatch::{autocast, files};

use data::Digits;
use network::Network;
use plot::curves::{Curve, Panel, draw_panels};
use plot::picture::{BLUE, Picture, RED};
use training::{EpochScores, Score};

const SEED: u64 = 0;
const EPOCH_COUNT: u32 = 30;
/// The number of pictures for training; the others are for the test.
const TRAINING_PICTURE_COUNT: i64 = 1437;

fn main() -> Result<()> {
    let mut arguments = env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "adam".to_owned());
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| "target/digits".to_owned()));

    opdispatch::manual_seed(SEED);
    let (training, test) = Digits::load()?.shuffle_and_split(TRAINING_PICTURE_COUNT)?;
    let network = Network::new()?;
    let mut optimizer = create_optimizer(&name, &network)?;
    println!("{} handwritten digits for training, {} for the test\n", training.picture_count(), test.picture_count());

    let epochs = train_network(&network, &mut *optimizer, &training, &test)?;

    let predicted = training::predict(&network, &test.pictures)?;
    let curves = write_file(&folder, "curves.png", &draw_curves(&epochs).to_png()?)?;
    let misclassified =
        write_file(&folder, "misclassified.png", &misclassified::draw_misclassified(&test, &predicted)?.to_png()?)?;
    let weights = folder.join("weights.safetensors");
    files::save_safetensors(&weights, &network.state_dict()?)?;
    println!(
        "curves         {}\nmisclassified  {}\nweights        {}",
        curves.display(),
        misclassified.display(),
        weights.display()
    );

    let fresh = Network::new()?;
    fresh.load_state_dict(&files::load_safetensors(&weights)?)?;
    let (before, after) = (training::compute_score(&network, &test)?, training::compute_score(&fresh, &test)?);
    if before != after {
        return Err(format!("the loaded weights have another score: {after:?} instead of {before:?}").into());
    }
    println!("               loaded into another network: {:.2} %, as before", 100.0 * after.accuracy);

    let profile = profile::profile_epoch(&fresh, &mut *create_optimizer(&name, &fresh)?, &training)?;
    println!("\nThe time of an epoch by span:\n\n{}\n", profile.longest_spans_table(8));
    let trace = write_file(&folder, "profile.json", &profile.trace_json()?)?;
    println!("profile        {}, for https://ui.perfetto.dev", trace.display());
    println!("               {:.1} % of the epoch is in named spans", 100.0 * profile.fraction_in_named_spans());

    print_call_log(&network, &test.pictures.i(..training::BATCH_SIZE)?)
}

/// Trains the network, prints a line for each epoch, and returns the scores.
fn train_network(
    network: &Network,
    optimizer: &mut dyn Optimizer,
    training: &Digits,
    test: &Digits,
) -> Result<Vec<EpochScores>> {
    let steps = training.picture_count().unsigned_abs().div_ceil(training::BATCH_SIZE.unsigned_abs());
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} steps, {msg}").map_err(Error::kernel)?;
    let progress = ProgressBar::new(u64::from(EPOCH_COUNT) * steps).with_style(style);
    let mut epochs = Vec::new();
    println!("epoch   training: loss, accuracy   test: loss, accuracy   time of a step");
    for number in 1..=EPOCH_COUNT {
        let step = training::train_epoch(network, optimizer, training, &progress)?;
        let epoch = EpochScores {
            training: training::compute_score(network, training)?,
            test: training::compute_score(network, test)?,
        };
        progress.suspend(|| {
            let EpochScores { training, test } = &epoch;
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
fn create_optimizer(name: &str, network: &Network) -> Result<Box<dyn Optimizer>> {
    let parameters = network.parameters();
    match name {
        "adam" => Ok(Box::new(Adam::new(parameters, AdamOptions { lr: 3e-3, ..AdamOptions::default() })?)),
        "sgd" => Ok(Box::new(SGD::new(parameters, SGDOptions { lr: 0.1, momentum: 0.9, ..SGDOptions::default() })?)),
        other => Err(format!("there is no optimiser `{other}`; write `adam` or `sgd`").into()),
    }
}

/// Draws loss and accuracy of all epochs.
fn draw_curves(epochs: &[EpochScores]) -> Picture {
    let curve = |name, colour, value: &dyn Fn(&EpochScores) -> f64| {
        let points = epochs.iter().zip(1_u32..).map(|(epoch, number)| (f64::from(number), value(epoch))).collect();
        Curve { name, colour, points }
    };
    let panel = |title, value: &dyn Fn(&Score) -> f64| Panel {
        title,
        x_title: "epoch",
        curves: vec![
            curve("training", BLUE, &|epoch| value(&epoch.training)),
            curve("test", RED, &|epoch| value(&epoch.test)),
        ],
    };
    draw_panels(&[panel("loss", &|score| score.loss), panel("accuracy %", &|score| 100.0 * score.accuracy)])
}

/// Prints the keys of the arguments of one call, and the log of its operator calls and kernels.
fn print_call_log(network: &Network, pictures: &Tensor) -> Result<()> {
    let (weight, Some(bias)) = (&network.hidden.weight, &network.hidden.bias) else {
        return Err("the hidden layer has a bias".into());
    };
    println!("\nThe calls and kernels of linear(pictures, weight, bias):\n");
    for (name, argument) in [("pictures", pictures), ("weight", weight), ("bias", bias)] {
        println!("{name:8} has the keys {}", argument.keys());
    }
    let _bfloat16 = autocast::enable(Device::CPU, DType::BF16)?;
    let call = || pictures.linear_bias(weight, bias).map(drop);
    // Autocast caches the weights that it casts. The log below is that of every call after the first.
    call()?;
    let log = call_log::log_calls(call)?;
    print!("\n{log}");
    Ok(())
}

/// Writes a file into the folder, which is created if it is missing.
fn write_file(folder: &Path, name: &str, contents: &[u8]) -> Result<PathBuf> {
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
    fn eight_epochs_give_an_accuracy_above_92_percent() -> Result<()> {
        for name in ["adam", "sgd"] {
            let (training, test) = Digits::load()?.shuffle_and_split(TRAINING_PICTURE_COUNT)?;
            let network = Network::new()?;
            let mut optimizer = create_optimizer(name, &network)?;
            for _ in 0..8 {
                training::train_epoch(&network, &mut *optimizer, &training, &ProgressBar::hidden())?;
            }
            let score = training::compute_score(&network, &test)?;
            assert!(score.accuracy > 0.92, "{name}: {score:?}");
        }
        Ok(())
    }
}
