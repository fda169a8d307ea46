//! A progress bar on standard error.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The time after which the bar is drawn.
const DRAW_DELAY: Duration = Duration::from_secs(2);

/// A bar that is drawn only on a terminal, and only if the work takes longer than two seconds. It vanishes at the end.
pub(crate) struct DelayedProgressBar {
    bar: ProgressBar,
    /// The time at which the bar is drawn; `None` if it is drawn already, or if standard error is no terminal.
    visible_from: Option<Instant>,
}

impl DelayedProgressBar {
    pub(crate) fn new(total: usize) -> Self {
        let total = u64::try_from(total).unwrap_or(u64::MAX);
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}");
        let bar = style.map_or_else(|_| bar.clone(), |style| bar.clone().with_style(style));
        Self { bar, visible_from: io::stderr().is_terminal().then(|| Instant::now() + DRAW_DELAY) }
    }

    /// Counts a step, with a text beside the bar.
    pub(crate) fn step(&mut self, text: &str) {
        self.set(usize::try_from(self.bar.position()).unwrap_or(usize::MAX).saturating_add(1), text);
    }

    /// Shows that this number of steps is finished, with a text beside the bar.
    pub(crate) fn set(&mut self, finished: usize, text: &str) {
        self.bar.set_position(u64::try_from(finished).unwrap_or(u64::MAX));
        self.bar.set_message(text.to_owned());
        if self.visible_from.take_if(|time| *time <= Instant::now()).is_some() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Drop for DelayedProgressBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
