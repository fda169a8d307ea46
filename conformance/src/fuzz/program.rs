//! The command line of the program `fuzz`.
//!
//! The exit code is 0 if there is no finding, and 1 if there is one. It is 2 if the command line is wrong, or if the fuzzer cannot run.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use clap_complete::Shell;
use dispatch_runtime::Operator;

use super::run::Outcome;
use super::trial_source::TrialSource;
use super::watch::watch_workers;
use super::worker::run_trials;
use crate::command_line::print_completions;

/// Calls operators with unusual arguments, and prints the outcomes that are neither results nor typed errors.
#[derive(Parser)]
#[command(name = "fuzz", args_conflicts_with_subcommands = true, after_help = AFTER_HELP)]
struct Options {
    #[command(subcommand)]
    command: Option<Command>,
    /// The time in seconds for which trials run.
    #[arg(long, value_name = "NUMBER", default_value_t = 60)]
    seconds: u64,
    /// The seed from which the trials are drawn.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// Runs trials of this operator only.
    #[arg(long, value_name = "OPERATOR", value_parser = Operator::find)]
    only: Option<&'static Operator>,
    /// Runs one trial, in this process.
    #[arg(long, value_name = "SEED:NUMBER", value_parser = parse_seed_and_number, conflicts_with_all = ["seconds", "seed"])]
    case: Option<(u64, u64)>,
    /// Runs as the worker process, from the trial of this number on.
    #[arg(long, value_name = "NUMBER", hide = true)]
    worker: Option<u64>,
}

#[derive(Subcommand)]
enum Command {
    /// Prints a script that completes the options in a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
}

const AFTER_HELP: &str = "\
Examples:
  fuzz --seconds 1800 --seed 7
  fuzz --case 7:1234

Exit codes:
  0  no finding
  1  at least one finding
  2  the command line is wrong, or the fuzzer cannot run";

/// Runs the fuzzer with the command-line arguments of the process.
///
/// A program links the backends that it tests, and calls this function:
///
/// ```no_run
/// # use std::process::ExitCode;
/// use kernels_cpu as _;
///
/// fn main() -> ExitCode {
///     conformance::fuzz::main()
/// }
/// ```
#[must_use]
pub fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(has_findings) => ExitCode::from(u8::from(has_findings)),
        Err(error) => {
            // If even the message cannot be written, the exit code still reports the failure.
            _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Parses the seed and the number of a trial: `7:1234`.
fn parse_seed_and_number(text: &str) -> Result<(u64, u64), String> {
    let case = text.split_once(':').and_then(|(seed, number)| Some((seed.parse().ok()?, number.parse().ok()?)));
    case.ok_or_else(|| "it needs a seed and a number, such as 0:17".to_owned())
}

/// Runs the trials, and returns whether there are findings.
fn run(options: &Options) -> Result<bool, Box<dyn std::error::Error>> {
    if let Some(Command::Completions { shell }) = options.command {
        allow_closed_pipe(print_completions::<Options>(shell, "fuzz"))?;
        return Ok(false);
    }
    if let Some(from) = options.worker {
        allow_closed_pipe(run_trials(&TrialSource::new(options.seed, options.only)?, from))?;
        return Ok(false);
    }
    if let Some((seed, number)) = options.case {
        let trial = TrialSource::new(seed, options.only)?.draw_trial(number);
        // A trial that aborts the process must be printed before it runs.
        let mut out = io::stdout();
        allow_closed_pipe(writeln!(out, "{trial}"))?;
        let outcome = trial.run();
        allow_closed_pipe(writeln!(out, "{outcome:?}"))?;
        return Ok(matches!(outcome, Outcome::Finding(_)));
    }
    let only = options.only.map(|operator| operator.name().to_string());
    let mut arguments = vec!["--seed".to_owned(), options.seed.to_string()];
    arguments.extend(only.iter().flat_map(|name| ["--only".to_owned(), name.clone()]));
    let repeat = |number: u64| {
        let only = only.as_ref().map(|name| format!(" --only {name}")).unwrap_or_default();
        format!("cargo run -p conformance-program --bin fuzz -- --case {}:{number}{only}", options.seed)
    };
    match watch_workers(&arguments, &repeat, Duration::from_secs(options.seconds)) {
        Ok(tally) => {
            allow_closed_pipe(writeln!(io::stdout(), "{tally}"))?;
            Ok(!tally.findings.is_empty())
        }
        // The reader has closed the output before this finding.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Accepts that the reader has closed the output, as `head` does when it has enough.
fn allow_closed_pipe(result: io::Result<()>) -> io::Result<()> {
    result.or_else(|error| if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}
