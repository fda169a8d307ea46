//! Prints the costs of a call, of a program start and of a build, in one table each.
//!
//! `cargo run --release -p report` prints everything; `-- calls`, `-- start` or `-- check` prints one part.

mod calls;
mod check;
mod generate;
mod start;

use std::env;
use std::path::Path;
use std::process::ExitCode;

use measure::Result;

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

/// Returns the folder of the benchmarks.
fn benches() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in a workspace")
}
