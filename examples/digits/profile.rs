//! A profile of one training epoch.

use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use opdispatch::modes::{self, Profiler, span};
use opdispatch::prelude::*;

use crate::data::Digits;
use crate::network::Network;
use crate::training;

/// The profiler's data of one epoch.
pub(crate) struct Profile {
    profiler: Arc<Profiler>,
    /// The wall-clock time of the epoch.
    duration: Duration,
}

const EPOCH_SPAN: &str = "epoch";

/// Trains for one more epoch under the profiler.
pub(crate) fn profile_epoch(network: &Network, optimizer: &mut dyn Optimizer, digits: &Digits) -> Result<Profile> {
    let profiler = Arc::new(Profiler::new());
    let start = Instant::now();
    modes::with_mode(profiler.clone(), || {
        span(EPOCH_SPAN, || training::train_epoch(network, optimizer, digits, &ProgressBar::hidden()))
    })?;
    Ok(Profile { profiler, duration: start.elapsed() })
}

impl Profile {
    /// Returns the fraction of the epoch's time in named spans inside of the epoch: operator calls, backward passes, or others.
    pub(crate) fn fraction_in_named_spans(&self) -> f64 {
        let rows = self.profiler.table_rows();
        let named = rows.iter().filter(|row| row.name != EPOCH_SPAN).map(|row| row.self_time).sum::<Duration>();
        named.as_secs_f64() / self.duration.as_secs_f64()
    }

    /// Returns the whole profile as JSON for a trace viewer.
    pub(crate) fn trace_json(&self) -> Result<Vec<u8>> {
        let mut trace = Vec::new();
        self.profiler.write_trace(&mut trace).map_err(Error::kernel)?;
        Ok(trace)
    }

    /// Returns a table of the longest spans, with at most `rows` rows.
    pub(crate) fn longest_spans_table(&self, rows: usize) -> String {
        self.profiler.to_string().lines().take(1 + rows).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TRAINING_PICTURE_COUNT, create_optimizer};

    /// Takes the best of a few epochs, because other processes of the machine take time outside of spans.
    #[test]
    fn at_least_95_percent_of_an_epoch_is_in_named_spans() -> Result<()> {
        let (digits, _) = Digits::load()?.shuffle_and_split(TRAINING_PICTURE_COUNT)?;
        let network = Network::new()?;
        let mut optimizer = create_optimizer("adam", &network)?;
        // The first call of an operator binds it before a mode sees the call.
        training::train_epoch(&network, &mut *optimizer, &digits, &ProgressBar::hidden())?;
        let mut best: Option<Profile> = None;
        for _ in 0..10 {
            let profile = profile_epoch(&network, &mut *optimizer, &digits)?;
            if best.as_ref().is_none_or(|best| best.fraction_in_named_spans() < profile.fraction_in_named_spans()) {
                best = Some(profile);
            }
        }
        let best = best.ok_or("there is no profile")?;
        assert!(
            best.fraction_in_named_spans() >= 0.95,
            "{}\n{}",
            best.fraction_in_named_spans(),
            best.longest_spans_table(60)
        );
        Ok(())
    }
}
