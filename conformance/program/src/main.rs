//! The program `conformance`: compares a backend with the recordings, and prints a table.
//!
//! The exit code is 0 if no operator fails, and 1 if one does. It is 2 if the command line is wrong, or if the suite cannot run.
#![forbid(unsafe_code)]

use std::error::Error;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use conformance::command_line::{DelayedProgressBar, print_completions};
use conformance::{Check, OperatorState, Report, Suite};
use dispatch_runtime::{DType, Device, Operator, keys};

// Links the CPU kernels, which are under test and compute expected results for other devices, and the operators of another library.
use {dispatch_vision as _, kernels_cpu as _};

/// Compares a backend with calls that were recorded from PyTorch, and prints a table with a row for each operator.
#[derive(Parser)]
#[command(name = "conformance", args_conflicts_with_subcommands = true, after_help = AFTER_HELP)]
struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,
    /// The device under test, such as `cuda:0`.
    #[arg(long, default_value = "cpu")]
    device: Device,
    /// Runs the kernels of CUDA on the CPU, through the emulator, which needs a C++ compiler.
    #[arg(long)]
    emulate: bool,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    lists: PrintedLists,
}

#[derive(Subcommand)]
enum Command {
    /// Prints a script that completes the options in a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
}

/// The calls and the checks to run.
#[derive(Args)]
struct Selection {
    /// Runs this operator only, and those of further `--only`.
    #[arg(long, value_name = "OPERATOR")]
    only: Vec<String>,
    /// Runs only the call of this number of each operator.
    #[arg(long, value_name = "NUMBER")]
    call: Option<usize>,
    /// Runs this check only, and those of further `--check`.
    #[arg(long, value_name = "NAME", value_parser = check_name_parser())]
    check: Vec<Check>,
    /// Runs one part of the operators, counted from 0: `0/2` is the first half.
    #[arg(long, value_name = "NUMBER/PARTS", value_parser = parse_part)]
    part: Option<(usize, usize)>,
    /// Skips calls with tensors of this dtype. On CUDA, calls with complex tensors are always skipped.
    #[arg(long, value_name = "DTYPE")]
    without: Vec<DType>,
}

/// The lists that are printed in place of the table.
#[derive(Args)]
struct PrintedLists {
    /// Prints each failure, with the command that repeats it, in place of the table.
    #[arg(long)]
    failures: bool,
    /// Prints the checks that do not apply to an operator, with reasons, in place of the table.
    #[arg(long)]
    not_applicable: bool,
    /// Prints the operators, kernels and derivatives that are missing, in place of the table.
    #[arg(long)]
    missing: bool,
}

const AFTER_HELP: &str = "\
Examples:
  conformance --only aten::relu --check values --failures
  conformance --device cuda:0 --emulate --part 0/8

Exit codes:
  0  no operator fails
  1  at least one operator fails
  2  the command line is wrong, or the suite cannot run: no compiler for --emulate, or no readable recordings";

fn main() -> ExitCode {
    match run(CommandLine::parse()) {
        Ok(has_failures) => ExitCode::from(u8::from(has_failures)),
        Err(error) => {
            // If even the message cannot be written, the exit code still reports the failure.
            _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}

fn check_name_parser() -> impl TypedValueParser<Value = Check> {
    PossibleValuesParser::new(Check::ALL.map(Check::name)).try_map(|name| name.parse::<Check>())
}

/// Parses a part of the operators: `0/2` is the first half.
fn parse_part(text: &str) -> Result<(usize, usize), String> {
    let numbers = text.split_once('/').and_then(|(part, parts)| Some((part.parse().ok()?, parts.parse().ok()?)));
    let part = numbers.filter(|(part, parts)| part < parts);
    part.ok_or_else(|| "it needs a number and the larger number of parts, such as 0/2".to_owned())
}

/// Runs the suite and prints its report. Returns whether an operator fails.
fn run(command_line: CommandLine) -> Result<bool, Box<dyn Error>> {
    let CommandLine { command, device, emulate, selection, lists } = command_line;
    if let Some(Command::Completions { shell }) = command {
        allow_closed_pipe(print_completions::<CommandLine>(shell, "conformance"))?;
        return Ok(false);
    }
    if emulate && !kernels_cuda::emulate() {
        return Err("--emulate needs a C++ compiler, and there is none".into());
    }
    // The report has the message of a panic, so it is not printed.
    std::panic::set_hook(Box::new(|_| {}));
    let report = run_suite(&build_suite(device, &selection))?;
    require_known_operators(&selection.only, &report)?;
    if device.key() == keys::CUDA {
        _ = writeln!(io::stderr(), "{}", kernels_cuda::compile_statistics());
    }
    allow_closed_pipe(print_report(&report, &lists))?;
    Ok(report.operator_count(OperatorState::Failed) != 0)
}

fn build_suite(device: Device, selection: &Selection) -> Suite {
    let Selection { only, call, check, part, without } = selection;
    let mut suite = only.iter().fold(Suite::new(device), Suite::only_operator);
    suite = check.iter().fold(suite, |suite, check| suite.only_check(*check));
    suite = without.iter().fold(suite, |suite, dtype| suite.without_dtype(*dtype));
    if let Some(number) = call {
        suite = suite.only_call(*number);
    }
    if let Some((part, parts)) = part {
        suite = suite.only_part(*part, *parts);
    }
    if device.key() == keys::CUDA { adapt_to_cuda(suite) } else { suite }
}

/// Restricts the suite to dtypes of CUDA, and accepts results of PyTorch's devices. PyTorch resizes images of bytes only on the CPU.
fn adapt_to_cuda(suite: Suite) -> Suite {
    let suite =
        suite.without_dtype(DType::C64).without_dtype(DType::C128).accept_device_differences().with_sampled_calls();
    suite.without_calls_of("upsample_bilinear2d", DType::U8).without_calls_of("upsample_bicubic2d", DType::U8)
}

/// Runs the suite, with a progress bar.
fn run_suite(suite: &Suite) -> conformance::Result<Report> {
    let mut bar = None;
    let report = suite.run_with_progress(&mut |progress| {
        let count = |steps: usize| u64::try_from(steps).unwrap_or(u64::MAX);
        let bar = bar.get_or_insert_with(|| DelayedProgressBar::new(count(progress.total)));
        bar.update(count(progress.finished), progress.operator);
    });
    bar.iter().for_each(DelayedProgressBar::finish);
    report
}

/// Returns an error if one of these names is neither that of an operator nor in the recordings.
fn require_known_operators(names: &[String], report: &Report) -> Result<(), dispatch_runtime::Error> {
    let is_unknown = |name: &&String| report.rows().iter().all(|row| row.operator != **name);
    names.iter().filter(is_unknown).try_for_each(|name| Operator::find(name).map(drop))
}

/// Prints the lists that the command line names, or else the table.
fn print_report(report: &Report, lists: &PrintedLists) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let &PrintedLists { failures, not_applicable, missing } = lists;
    if failures {
        report.failed_checks().iter().try_for_each(|failed| writeln!(out, "{failed}"))?;
    }
    if not_applicable {
        let mut not_applicable = report.not_applicable_checks().iter();
        not_applicable
            .try_for_each(|(operator, check, reason)| writeln!(out, "{operator}, {check}: not applicable, {reason}"))?;
    }
    if missing {
        let mut missing = report.missing_items().iter();
        missing.try_for_each(|(operator, check, item)| writeln!(out, "{operator}, {check}: {item}"))?;
    }
    if !(failures || not_applicable || missing) {
        writeln!(out, "{report}")?;
    }
    Ok(())
}

/// Accepts that the reader has closed the output, as `head` does when it has enough.
fn allow_closed_pipe(result: io::Result<()>) -> io::Result<()> {
    result.or_else(|error| if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}
