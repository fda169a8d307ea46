//! The inspector with every operator that the facade links. It can make calls, too.
//!
//! Observing calls takes a layer, and the library adds no layer to the programs that it inspects. So only this program has `trace`, and
//! `plan`, whose arguments are parsed in the same way.
#![forbid(unsafe_code)]

mod arguments;
mod plan;
mod trace;

use std::process::ExitCode;

use dispatch_inspect::{Command, CommandOutcome, Failure, Output, RunCommand, clap, main_with_commands};

/// A command of the library, or one that makes or plans a call.
#[derive(clap::Subcommand)]
enum ProgramCommand {
    #[command(flatten)]
    Inspect(Command),
    /// Makes a call on tensors of ones, and shows it with the calls inside of it.
    #[command(after_help = "Example:\n  {program} trace linear f32[2,3],requires_grad f32[4,3]")]
    Trace(trace::TraceOptions),
    /// Shows the dtypes, sizes and strides of a call's results, without the call.
    #[command(after_help = "Example:\n  {program} plan linear f32[1000000,1000] f32[1000000,1000]")]
    Plan(plan::PlanOptions),
}

impl RunCommand for ProgramCommand {
    fn run(self, output: &mut Output<'_>) -> Result<CommandOutcome, Failure> {
        match self {
            Self::Inspect(command) => command.run(output),
            Self::Trace(options) => trace::run(&options, output),
            Self::Plan(options) => plan::run(&options, output),
        }
    }
}

fn main() -> ExitCode {
    main_with_commands::<ProgramCommand>()
}
