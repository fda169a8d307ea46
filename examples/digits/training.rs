//! Steps down the slope, and how far they led.

use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use opdispatch::prelude::*;
use opdispatch::{guard, span};

use crate::data::Digits;
use crate::network::Network;
use crate::optimiser::Optimiser;

/// How many pictures a step looks at.
pub(crate) const BATCH: i64 = 64;

/// Learns from every picture once, and says how long a step took.
pub(crate) fn epoch(
    network: &Network,
    optimiser: &mut dyn Optimiser,
    digits: &Digits,
    progress: &ProgressBar,
) -> Result<Duration> {
    let start = Instant::now();
    let mut steps = 0;
    for batch in digits.batches(BATCH)? {
        let scores = span("forward", || network.forward(&batch.pictures))?;
        let loss = aten::cross_entropy_loss!(&scores, &batch.labels)?;
        loss.backward()?;
        span("step", || optimiser.step())?;
        network.parameters().iter().for_each(|(_, parameter)| parameter.zero_grad());
        progress.set_message(format!("loss {:.4}", loss.item::<f64>()?));
        progress.inc(1);
        steps += 1;
    }
    Ok(start.elapsed() / steps.max(1))
}

/// How well a network does.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Score {
    pub(crate) loss: f64,
    /// The share of pictures that it reads correctly.
    pub(crate) accuracy: f64,
}

/// How well a network did after an epoch: with what it learned from, and with what it never saw.
pub(crate) struct Epoch {
    pub(crate) training: Score,
    pub(crate) test: Score,
}

/// How well a network reads these pictures.
pub(crate) fn score(network: &Network, digits: &Digits) -> Result<Score> {
    let _no_grad = guard::no_grad();
    let scores = network.forward(&digits.pictures)?;
    let correct = scores.argmax(Some(1), false)?.eq(&digits.labels)?;
    Ok(Score {
        loss: aten::cross_entropy_loss!(&scores, &digits.labels)?.item()?,
        accuracy: correct.to(DType::F64)?.mean()?.item()?,
    })
}

/// The digit that a network reads in each of these pictures: the one with the highest score.
pub(crate) fn predicted(network: &Network, pictures: &Tensor) -> Result<Tensor> {
    let _no_grad = guard::no_grad();
    network.forward(pictures)?.argmax(Some(1), false)
}
