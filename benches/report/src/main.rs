//! Prints the costs of a call, of a program start and of a build, in one table each.
//!
//! `cargo run --release -p report` prints everything; `-- calls`, `-- start` or `-- check` prints one part.

mod call_costs;
mod compile_time;
mod generated_packages;
mod start_time;

use std::env;
use std::path::Path;
use std::process::ExitCode;

use measure::Result;

fn main() -> ExitCode {
    let selected: Vec<String> = env::args().skip(1).collect();
    let parts: [(&str, fn() -> Result<()>); 3] = [
        ("calls", call_costs::report_call_costs),
        ("start", start_time::report_start_time),
        ("check", compile_time::report_compile_time),
    ];
    if let Some(unknown) = selected.iter().find(|selected| parts.iter().all(|(name, _)| name != selected)) {
        eprintln!("there is no part `{unknown}`; the parts are calls, start and check");
        return ExitCode::FAILURE;
    }
    for (name, report) in parts {
        if selected.is_empty() || selected.iter().any(|selected| selected == name) {
            if let Err(error) = report() {
                eprintln!("{name}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

/// Returns the folder of the benchmarks.
fn benches_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package is in the folder of the benchmarks")
}
