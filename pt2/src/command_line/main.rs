//! The program `pt2`: shows, checks, runs, times and compares exported programs.
//!
//! The exit code is 0 if all is well, and 1 if a check fails or if two runs differ. It is 2 if the command line is wrong, or if a file cannot
//! be used.
#![forbid(unsafe_code)]

mod bench;
mod check;
mod diff;
mod difference;
mod node_observer;
mod operators;
mod program_input;
mod progress_bar;
mod run;
mod show;
mod text_table;

use std::error::Error;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

// Links the kernels, the layers and torchvision's operators.
use {dispatch_autocast as _, dispatch_vision as _, kernels_cpu as _};

/// Shows, checks, runs, times and compares programs that `torch.export` saved.
#[derive(Parser)]
#[command(name = "pt2", after_help = AFTER_HELP)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Show(show::ShowOptions),
    Check(check::CheckOptions),
    Run(run::RunOptions),
    Bench(bench::BenchOptions),
    Diff(diff::DiffOptions),
    /// Prints a script that completes the options in a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
}

const AFTER_HELP: &str = "\
Exit codes:
  0  all is well
  1  a check fails, or two runs differ
  2  the command line is wrong, or a file cannot be used";

/// The result of a part of a command. Errors are only printed, so their type does not matter.
type Outcome<T> = Result<T, Box<dyn Error>>;

/// The result of a command that did its work.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Good,
    Bad,
}

fn main() -> ExitCode {
    match run_command(CommandLine::parse().command) {
        Ok(Verdict::Good) => ExitCode::SUCCESS,
        Ok(Verdict::Bad) => ExitCode::from(1),
        Err(error) => {
            // If even the message cannot be written, the exit code still reports the failure.
            _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run_command(command: Command) -> Outcome<Verdict> {
    let mut out = io::stdout().lock();
    let result = match command {
        Command::Show(options) => show::run(&options, &mut out),
        Command::Check(options) => check::run(&options, &mut out),
        Command::Run(options) => run::run(&options, &mut out),
        Command::Bench(options) => bench::run(&options, &mut out),
        Command::Diff(options) => diff::run(&options, &mut out),
        Command::Completions { shell } => print_completions(shell, &mut out),
    };
    // The reader may have closed the output, as `head` does when it has enough.
    result.or_else(|error| match error.downcast_ref::<io::Error>() {
        Some(closed) if closed.kind() == ErrorKind::BrokenPipe => Ok(Verdict::Good),
        _ => Err(error),
    })
}

fn print_completions(shell: Shell, out: &mut dyn Write) -> Outcome<Verdict> {
    // The generator panics if it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut CommandLine::command(), "pt2", &mut script);
    out.write_all(&script)?;
    Ok(Verdict::Good)
}
