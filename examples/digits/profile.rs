//! Where the time of training goes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use opdispatch::modes::{self, Profiler};
use opdispatch::prelude::*;
use opdispatch::span;

use crate::data::Digits;
use crate::network::Network;
use crate::optimiser::Optimiser;
use crate::training;

/// What a profiler saw of an epoch.
pub(crate) struct Profile {
    profiler: Arc<Profiler>,
    /// How long the epoch took, by the clock on the wall.
    took: Duration,
}

const NAME: &str = "epoch";

/// Trains for one epoch more, and takes its times.
pub(crate) fn of_epoch(network: &Network, optimiser: &mut dyn Optimiser, digits: &Digits) -> Result<Profile> {
    let profiler = Arc::new(Profiler::new());
    let start = Instant::now();
    modes::with(profiler.clone(), || {
        span(NAME, || training::epoch(network, optimiser, digits, &ProgressBar::hidden()))
    })?;
    Ok(Profile { profiler, took: start.elapsed() })
}

impl Profile {
    /// The share of the time that is a call's, a backward's or another span's, and not just somewhere in the epoch.
    pub(crate) fn accounted(&self) -> f64 {
        let rows = self.profiler.rows();
        let named = rows.iter().filter(|row| row.name != NAME).map(|row| row.own).sum::<Duration>();
        named.as_secs_f64() / self.took.as_secs_f64()
    }

    /// All of it, for a program that draws it.
    pub(crate) fn trace(&self) -> Result<Vec<u8>> {
        let mut trace = Vec::new();
        self.profiler.write_trace(&mut trace).map_err(Error::kernel)?;
        Ok(trace)
    }

    /// What took longest, as a table of so many rows.
    pub(crate) fn top(&self, rows: usize) -> String {
        self.profiler.to_string().lines().take(1 + rows).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TRAINING, optimiser};

    /// The best of a few: what else the machine does meanwhile is nobody's.
    #[test]
    fn a_profile_of_training_accounts_for_nearly_all_of_its_time() -> Result<()> {
        let (digits, _) = Digits::load()?.split(TRAINING)?;
        let network = Network::new()?;
        let mut optimiser = optimiser("adam", &network)?;
        // Operators are bound by their first call, before any mode has it.
        training::epoch(&network, &mut *optimiser, &digits, &ProgressBar::hidden())?;
        let mut best: Option<Profile> = None;
        for _ in 0..10 {
            let profile = of_epoch(&network, &mut *optimiser, &digits)?;
            if best.as_ref().is_none_or(|best| best.accounted() < profile.accounted()) {
                best = Some(profile);
            }
        }
        let best = best.ok_or("there is no profile")?;
        assert!(best.accounted() >= 0.95, "{}\n{}", best.accounted(), best.top(60));
        Ok(())
    }
}
