//! Samplers: the order of the items in an epoch.

use dispatch_runtime::{BadArgument, Result};

use super::random_numbers::{Purpose, derived_seed, shuffled, uniform};

/// The order of the items in an epoch.
///
/// ```
/// use dispatch_nn::data::Sampler;
/// use dispatch_runtime::Result;
///
/// /// The items from the last to the first.
/// struct Backwards;
///
/// impl Sampler for Backwards {
///     fn indices(&self, len: usize, _seed: u64, _epoch: u64) -> Result<Vec<usize>> {
///         Ok((0..len).rev().collect())
///     }
/// }
/// assert_eq!(Backwards.indices(3, 0, 0)?, [2, 1, 0]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub trait Sampler: Send + Sync {
    /// Returns the indices of an epoch. They depend on the arguments alone, so that a resumed run has the same order.
    ///
    /// # Errors
    ///
    /// Returns an error if the sampler does not fit a dataset of `len` items.
    fn indices(&self, len: usize, seed: u64, epoch: u64) -> Result<Vec<usize>>;

    /// Returns the number of indices of an epoch, for a dataset of `len` items.
    fn num_samples(&self, len: usize) -> usize {
        len
    }
}

/// The items in their order.
///
/// ```
/// use dispatch_nn::data::{Sampler, SequentialSampler};
/// assert_eq!(SequentialSampler.indices(3, 0, 0)?, [0, 1, 2]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SequentialSampler;

impl Sampler for SequentialSampler {
    fn indices(&self, len: usize, _: u64, _: u64) -> Result<Vec<usize>> {
        Ok((0..len).collect())
    }
}

/// The items in random order, a new one in each epoch.
///
/// ```
/// use dispatch_nn::data::{RandomSampler, Sampler};
/// assert_ne!(RandomSampler.indices(100, 0, 0)?, RandomSampler.indices(100, 0, 1)?);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomSampler;

impl Sampler for RandomSampler {
    fn indices(&self, len: usize, seed: u64, epoch: u64) -> Result<Vec<usize>> {
        Ok(shuffled(len, derived_seed(seed, Purpose::Order, epoch, 0)))
    }
}

/// Items at random, each with a probability in proportion to its weight.
///
/// ```
/// use dispatch_nn::data::{Sampler, WeightedRandomSampler};
/// let sampler = WeightedRandomSampler::new(vec![0.0, 1.0], 5, true)?;
/// assert_eq!(sampler.indices(2, 0, 0)?, [1; 5]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct WeightedRandomSampler {
    weights: Vec<f64>,
    num_samples: usize,
    replacement: bool,
}

impl WeightedRandomSampler {
    /// Creates a sampler of `num_samples` items in an epoch. With replacement, an item can occur several times.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if a weight is negative or not finite, or if too few are above zero.
    pub fn new(weights: Vec<f64>, num_samples: usize, replacement: bool) -> Result<Self> {
        if let Some(weight) = weights.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
            return Err(BadArgument::value("weights", weight, "a list of numbers from 0").into());
        }
        let available = weights.iter().filter(|weight| **weight > 0.0).count();
        if num_samples > 0 && available < if replacement { 1 } else { num_samples } {
            let expected = format!("at most the number of weights above zero, {available}");
            return Err(BadArgument::value("num_samples", num_samples, expected).into());
        }
        Ok(Self { weights, num_samples, replacement })
    }
}

impl Sampler for WeightedRandomSampler {
    fn indices(&self, len: usize, seed: u64, epoch: u64) -> Result<Vec<usize>> {
        if self.weights.len() != len {
            let error = BadArgument::length("weights", self.weights.len(), len);
            return Err(error.because("the dataset has this number of items").into());
        }
        let seed = derived_seed(seed, Purpose::Order, epoch, 1);
        let random = |i: usize| uniform(seed, i as u64);
        if self.replacement {
            let mut sums: Vec<f64> = Vec::with_capacity(len);
            for weight in &self.weights {
                sums.push(sums.last().unwrap_or(&0.0) + weight);
            }
            let total = sums.last().copied().unwrap_or_default();
            // Rounding can give the total, which belongs to the last item with a weight.
            let last = self.weights.iter().rposition(|weight| *weight > 0.0).unwrap_or_default();
            let pick = |i| sums.partition_point(|sum| *sum <= random(i) * total).min(last);
            return Ok((0..self.num_samples).map(pick).collect());
        }
        // The smallest of exponential numbers with rates `w` is number `i` with the probability `w[i] / sum(w)`.
        let time = |(i, weight): (usize, &f64)| (-(1.0 - random(i)).ln() / weight, i);
        let mut times: Vec<(f64, usize)> =
            self.weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0).map(time).collect();
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(times.into_iter().take(self.num_samples).map(|(_, i)| i).collect())
    }

    fn num_samples(&self, _: usize) -> usize {
        self.num_samples
    }
}
