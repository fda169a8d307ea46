//! The command line of an inspector program: parses the arguments, runs one command, and ends with an exit code.
//!
//! The exit code is 0 if the command has an answer. It is 1 if no operator has the name, if the call would fail, or if the answer cannot be
//! written. It is 2 if the command line is wrong.

use std::ffi::OsString;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;

use crate::{Command, CommandOutcome, Failure, Output, Style};

/// A set of commands that a program runs: [`Command`], or an enum of a program that has further commands.
///
/// ```no_run
/// use dispatch_inspect::{Command, Failure, CommandOutcome, Output, RunCommand, clap};
///
/// #[derive(clap::Subcommand)]
/// enum MyCommand {
///     /// Prints the version.
///     Version,
///     #[command(flatten)]
///     Inspect(Command),
/// }
///
/// impl RunCommand for MyCommand {
///     fn run(self, output: &mut Output<'_>) -> Result<CommandOutcome, Failure> {
///         match self {
///             Self::Version => output.write_text(concat!(env!("CARGO_PKG_VERSION"), "\n")),
///             Self::Inspect(command) => command.run(output),
///         }
///     }
/// }
///
/// fn main() -> std::process::ExitCode {
///     dispatch_inspect::main_with_commands::<MyCommand>()
/// }
/// ```
pub trait RunCommand: Subcommand {
    /// Runs the command and writes its answer.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no answer, or if the answer cannot be written.
    fn run(self, output: &mut Output<'_>) -> Result<CommandOutcome, Failure>;
}

/// Shows the operators of this program, the kernel that a call runs, and why.
#[derive(Parser)]
#[command(arg_required_else_help = false)]
struct CommandLine<C: Subcommand> {
    #[command(subcommand)]
    command: CommandOrCompletions<C>,
    /// Writes the answer as JSON.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum CommandOrCompletions<C: Subcommand> {
    #[command(flatten)]
    Command(C),
    /// Prints a script that completes commands and options in a shell.
    #[command(
        after_help = "Example:\n  {program} completions bash > ~/.local/share/bash-completion/completions/{program}"
    )]
    Completions {
        /// The shell.
        shell: Shell,
    },
}

/// The end of the help. `{program}` stands for the name of the program, here and in the help of each command.
const AFTER_HELP: &str = "\
Example:
  {program} explain add.Tensor cpu,f32,requires_grad --autocast

An operator can be written without its namespace, and without its overload if there is only one.
Text is coloured on a terminal, unless the environment variable NO_COLOR is set.

Exit codes:
  0  the command has an answer
  1  no operator has the name, the call would fail, or the answer cannot be written
  2  the command line is wrong";

/// Runs the inspector as a program, with the command line of this process. It writes the answer to standard output, and errors to standard
/// error.
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     dispatch_inspect::main()
/// }
/// ```
#[must_use]
pub fn main() -> ExitCode {
    main_with_commands::<Command>()
}

/// Runs a program with these commands, as [`main`] does with [`Command`]. [`RunCommand`] has an example.
#[must_use]
pub fn main_with_commands<C: RunCommand>() -> ExitCode {
    let wants_colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut out = std::io::stdout().lock();
    let style = if wants_colour && out.is_terminal() { Style::Colour } else { Style::Plain };
    let found = run_words::<C>(std::env::args_os().skip(1), &mut out, style).and_then(|found| {
        out.flush()?;
        Ok(found)
    });
    match found {
        Ok(CommandOutcome::Answered) => ExitCode::SUCCESS,
        Ok(CommandOutcome::CallFails) => ExitCode::from(1),
        // The reader has closed the output, as `head` does when it has enough.
        Err(Failure::Io(error)) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            // If even the message cannot be written, the exit code still reports the failure.
            _ = writeln!(std::io::stderr(), "error: {failure}");
            failure.exit_code()
        }
    }
}

/// Runs one command and writes the answer to `out`. `words` are the command-line arguments after the program's name.
///
/// ```
/// use dispatch_inspect::{Style, run};
///
/// dispatch_runtime::Registrar::new("run").define("id(Tensor self) -> Tensor")?;
/// let mut out = Vec::new();
/// run(["list", "run::"].map(str::to_owned), &mut out, Style::Plain).unwrap();
/// assert_eq!(out, b"run::id(Tensor self) -> Tensor\n");
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if the command line is wrong, if no operator matches, or if the answer cannot be written.
pub fn run(
    words: impl IntoIterator<Item = String>,
    out: &mut dyn Write,
    style: Style,
) -> Result<CommandOutcome, Failure> {
    run_words::<Command>(words.into_iter().map(OsString::from), out, style)
}

fn run_words<C: RunCommand>(
    words: impl Iterator<Item = OsString>,
    out: &mut dyn Write,
    style: Style,
) -> Result<CommandOutcome, Failure> {
    let program = program_name();
    let mut clap_command = clap_command::<C>(&program);
    let words = key_removals_to_options(words.collect());
    let parsed =
        clap_command.try_get_matches_from_mut(words).and_then(|matches| CommandLine::<C>::from_arg_matches(&matches));
    let CommandLine { command, json: as_json } = match parsed {
        Ok(command_line) => command_line,
        Err(error) if !error.use_stderr() => {
            return Output { out, style, as_json: false }.write_text(&error.to_string());
        }
        Err(error) => return Err(Failure::Usage(without_error_prefix(&error.to_string()))),
    };
    let mut output = Output { out, style, as_json };
    match command {
        CommandOrCompletions::Command(command) => command.run(&mut output),
        CommandOrCompletions::Completions { .. } if as_json => {
            Err(Failure::Usage("`completions` prints a script for a shell, which has no form in JSON".to_owned()))
        }
        CommandOrCompletions::Completions { shell } => {
            // The generator panics if it cannot write, so it writes to memory.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut clap_command, program, &mut script);
            output.write_text(&String::from_utf8_lossy(&script))
        }
    }
}

/// Returns the file name of the running program.
fn program_name() -> String {
    let path = std::env::args_os().next();
    let name = path.as_deref().map(Path::new).and_then(Path::file_name);
    name.map_or_else(|| "dispatch-inspect".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Returns the commands and options of a program, with its name in usages and examples.
fn clap_command<C: RunCommand>(program: &str) -> clap::Command {
    let with_name = |text: &str| text.replace("{program}", program);
    let clap_command =
        CommandLine::<C>::command().name(program.to_owned()).bin_name(program.to_owned()).no_binary_name(true);
    clap_command.after_help(with_name(AFTER_HELP)).mut_subcommands(|command| {
        match command.get_after_help().map(|text| with_name(&text.to_string())) {
            Some(after_help) => command.after_help(after_help),
            None => command,
        }
    })
}

/// Replaces `-KEY` of `what-if` with `--without=KEY`, because the parser of options would read each letter of `-KEY` as an option.
fn key_removals_to_options(mut words: Vec<OsString>) -> Vec<OsString> {
    let is_option = |word: &OsString| word.to_string_lossy().starts_with('-');
    if words.iter().find(|word| !is_option(word)).is_some_and(|command| command == "what-if") {
        for word in &mut words {
            let key = word.to_str().and_then(|word| word.strip_prefix('-'));
            if let Some(key) = key.filter(|key| key.starts_with(char::is_uppercase)) {
                *word = format!("--without={key}").into();
            }
        }
    }
    words
}

/// Returns a message of the parser without `error: `, which [`main_with_commands`] prints before all errors.
fn without_error_prefix(message: &str) -> String {
    message.strip_prefix("error: ").unwrap_or(message).trim_end().to_owned()
}
