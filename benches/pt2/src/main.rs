//! Compares exported programs in this framework with PyTorch, eager and compiled, on one machine and in one run.
//!
//! `pt2-peers FOLDER` measures the models that `export.py FOLDER` wrote. `--only NAME` selects models whose name begins with it, and
//! `--threads N` the number of threads; both may be repeated. `PEERS_PYTHON` is the path of a Python with PyTorch.
//!
//! `pt2-peers load|map|check|memory|run|profile FOLDER NAME eval|train THREADS` measures one program in this process.

mod compare;
mod peer;
mod running_peer;

use std::process::ExitCode;

use measure::Result;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<()> {
    match *arguments {
        [command, folder, name, pass, threads] if !folder.starts_with("--") => {
            peer::run_command(command, folder.as_ref(), name, pass.parse()?, threads.parse()?)
        }
        [folder, ref options @ ..] => compare::compare(folder.as_ref(), options),
        [] => Err("the first argument is the folder of the exported programs".into()),
    }
}
