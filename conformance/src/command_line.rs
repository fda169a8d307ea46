//! The common parts of the command lines of the suite's programs: a progress bar, and scripts for completion.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use clap::CommandFactory;
use clap_complete::Shell;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The time after which a progress bar is drawn.
const DRAW_DELAY: Duration = Duration::from_secs(2);

/// A progress bar on standard error. It is drawn only on a terminal, and only if the work takes longer than two seconds.
///
/// ```
/// let mut bar = conformance::command_line::DelayedProgressBar::new(2);
/// bar.update(1, "aten::relu");
/// bar.finish();
/// ```
#[derive(Debug)]
pub struct DelayedProgressBar {
    bar: ProgressBar,
    /// The time at which the bar is drawn; `None` if it is drawn already, or if standard error is no terminal.
    visible_from: Option<Instant>,
}

impl DelayedProgressBar {
    /// Creates the bar of work with this number of steps.
    #[must_use]
    pub fn new(total: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}");
        let bar = style.map_or_else(|_| bar.clone(), |style| bar.clone().with_style(style));
        Self { bar, visible_from: io::stderr().is_terminal().then(|| Instant::now() + DRAW_DELAY) }
    }

    /// Shows that this number of steps is finished, with a text beside the bar.
    pub fn update(&mut self, finished: u64, text: &str) {
        self.bar.set_position(finished);
        self.bar.set_message(text.to_owned());
        if self.visible_from.take_if(|time| *time <= Instant::now()).is_some() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// Calls a function that prints, while the bar is not drawn.
    pub fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// Removes the bar from the terminal.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Prints the script that completes the options of a program in a shell.
///
/// # Errors
///
/// Returns an error if standard output cannot be written.
pub fn print_completions<C: CommandFactory>(shell: Shell, program: &str) -> io::Result<()> {
    // The generator panics if it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut C::command(), program, &mut script);
    io::stdout().lock().write_all(&script)
}
