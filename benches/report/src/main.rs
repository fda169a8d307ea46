//! What a call, a start and a build cost, in one table each.
//!
//! `cargo run --release -p report` prints everything; `-- calls`, `-- start` or `-- check` prints one part.

mod calls;
mod check;
mod generate;
mod start;
mod steps;
mod table;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

fn main() -> ExitCode {
    let wanted: Vec<String> = env::args().skip(1).collect();
    let parts: [(&str, fn() -> Result<()>); 3] =
        [("calls", calls::report), ("start", start::report), ("check", check::report)];
    if let Some(unknown) = wanted.iter().find(|wanted| parts.iter().all(|(name, _)| name != wanted)) {
        eprintln!("there is no part `{unknown}`; the parts are calls, start and check");
        return ExitCode::FAILURE;
    }
    for (name, report) in parts {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            if let Err(error) = report() {
                eprintln!("{name}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

/// The folder of the benchmarks.
fn benches() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in a workspace")
}

/// Where this program was built, and builds what it measures.
fn target() -> Result<PathBuf> {
    let program = env::current_exe()?;
    Ok(program.ancestors().nth(2).ok_or("this program is not in a target folder")?.to_owned())
}

fn cargo(folder: &Path, target: &Path, arguments: &[&str]) -> Result<()> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(folder).env("CARGO_TARGET_DIR", target).args(arguments).arg("--quiet");
    if command.status()?.success() { Ok(()) } else { Err(format!("cargo {} failed", arguments.join(" ")).into()) }
}
