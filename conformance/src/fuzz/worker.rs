//! The worker process of the fuzzer: runs the trials. It prints each step before it runs it, because the step may abort the process.

use std::backtrace::Backtrace;
use std::fmt;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use super::run::Outcome;
use super::trial_source::TrialSource;

/// A line of the protocol between the worker and the watching process.
#[derive(Debug)]
pub(super) enum WorkerLine<'a> {
    /// A trial begins.
    TrialBegins {
        number: u64,
        operator: &'a str,
    },
    /// The text of the trial.
    TrialText(&'a str),
    Results,
    Refused,
    Finding(&'a str),
}

impl fmt::Display for WorkerLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TrialBegins { number, operator } => write!(f, "begins {number} {operator}"),
            Self::TrialText(trial) => write!(f, "is {trial}"),
            Self::Results => f.write_str("results "),
            Self::Refused => f.write_str("refused "),
            Self::Finding(what) => write!(f, "found {}", what.replace('\n', "\t")),
        }
    }
}

impl<'a> WorkerLine<'a> {
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        let (word, rest) = line.split_once(' ')?;
        Some(match word {
            "begins" => {
                let (number, operator) = rest.split_once(' ')?;
                Self::TrialBegins { number: number.parse().ok()?, operator }
            }
            "is" => Self::TrialText(rest),
            "results" => Self::Results,
            "refused" => Self::Refused,
            "found" => Self::Finding(rest),
            _ => return None,
        })
    }
}

/// Returns the first function of a backtrace that is neither of the standard library nor of the fuzzer.
pub(super) fn innermost_tested_function(trace: &str) -> Option<&str> {
    const SKIPPED_PREFIXES: [&str; 6] = ["std::", "core::", "alloc::", "__rust", "<", "conformance::fuzz::"];
    let mut functions = trace.lines().filter_map(|line| line.trim_start().split_once(": "));
    let is_skipped = |function: &str| SKIPPED_PREFIXES.iter().any(|start| function.starts_with(start));
    functions.find(|(number, function)| number.parse::<u32>().is_ok() && !is_skipped(function)).map(|found| found.1)
}

/// Runs all trials from number `from` on, until the pipe is closed.
pub(super) fn run_trials(source: &TrialSource, from: u64) -> io::Result<()> {
    static PANIC_LOCATION: Mutex<String> = Mutex::new(String::new());
    std::panic::set_hook(Box::new(|info| {
        let (trace, location) = (Backtrace::force_capture().to_string(), info.location());
        let (function, place) =
            (innermost_tested_function(&trace), location.map(ToString::to_string).unwrap_or_default());
        // If the panic is in the standard library, the function that called it is to blame.
        let function = function.filter(|_| place.starts_with("/rustc/")).map(|function| format!(", for {function}"));
        *PANIC_LOCATION.lock().unwrap_or_else(PoisonError::into_inner) = place + &function.unwrap_or_default();
    }));
    let mut out = io::stdout().lock();
    let mut say = |line: WorkerLine<'_>| writeln!(out, "{line}").and_then(|()| out.flush());
    for number in from.. {
        let operator = source.operator_of_trial(number).name().to_string();
        say(WorkerLine::TrialBegins { number, operator: &operator })?;
        PANIC_LOCATION.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let drawn = catch_unwind(AssertUnwindSafe(|| source.draw_trial(number)));
        let outcome = match drawn {
            Ok(trial) => {
                say(WorkerLine::TrialText(&trial.to_string()))?;
                trial.run()
            }
            Err(_) => Outcome::Finding("panicked while its graph was traced".to_owned()),
        };
        match outcome {
            Outcome::Results => say(WorkerLine::Results)?,
            Outcome::Refused(_) => say(WorkerLine::Refused)?,
            Outcome::Finding(what) => {
                let place = PANIC_LOCATION.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let what = if place.is_empty() { what } else { format!("{what} at {place}") };
                say(WorkerLine::Finding(&what))?;
            }
        }
    }
    Ok(())
}
