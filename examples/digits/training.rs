//! Training epochs, and the scores of the network.

use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use opdispatch::autograd;
use opdispatch::modes::span;
use opdispatch::prelude::*;

use crate::data::Digits;
use crate::network::Network;

/// The number of pictures in a training batch.
pub(crate) const BATCH_SIZE: i64 = 64;

/// Trains on every picture once, and returns the mean time of a step.
pub(crate) fn train_epoch(
    network: &Network,
    optimizer: &mut dyn Optimizer,
    digits: &Digits,
    progress: &ProgressBar,
) -> Result<Duration> {
    let start = Instant::now();
    let mut steps = 0;
    for batch in digits.shuffled_batches(BATCH_SIZE)? {
        let scores = span("forward", || network.forward(&batch.pictures))?;
        let loss = scores.cross_entropy(&batch.labels)?;
        loss.backward()?;
        span("step", || optimizer.step())?;
        optimizer.zero_grad();
        progress.set_message(format!("loss {:.4}", loss.item::<f64>()?));
        progress.inc(1);
        steps += 1;
    }
    Ok(start.elapsed() / steps.max(1))
}

/// The loss and accuracy of a network on a set of pictures.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Score {
    pub(crate) loss: f64,
    /// The fraction of pictures that are classified correctly.
    pub(crate) accuracy: f64,
}

/// The scores after an epoch, on the training data and on the test data.
pub(crate) struct EpochScores {
    pub(crate) training: Score,
    pub(crate) test: Score,
}

/// Computes the score of a network on these pictures.
pub(crate) fn compute_score(network: &Network, digits: &Digits) -> Result<Score> {
    let _no_grad = autograd::no_grad();
    let scores = network.forward(&digits.pictures)?;
    let correct = scores.argmax_dim(1)?.eq(&digits.labels)?;
    Ok(Score { loss: scores.cross_entropy(&digits.labels)?.item()?, accuracy: correct.to(DType::F64)?.mean()?.item()? })
}

/// Returns the predicted digit of each picture: the one with the highest score.
pub(crate) fn predict(network: &Network, pictures: &Tensor) -> Result<Tensor> {
    let _no_grad = autograd::no_grad();
    network.forward(pictures)?.argmax_dim(1)
}
