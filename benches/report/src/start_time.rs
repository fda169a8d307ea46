//! The cost of 2,000 operators with 3 kernels each, at program start and at their first use.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use measure::build::{run_cargo, target_folder};
use measure::{Result, table};

use crate::generated_packages;

const OPERATOR_COUNT: usize = 2000;

const MAIN_SOURCE: &str = r#"/// With an argument: builds all dispatch tables, and prints the seconds.
fn main() {
    if std::env::args().len() > 1 {
        let start = std::time::Instant::now();
        dispatch_runtime::bind_all();
        println!("{}", start.elapsed().as_secs_f64());
    }
}

#[cfg(feature = "operators")]
mod operators {
use dispatch_runtime::prelude::*;
"#;

pub(crate) fn report_start_time() -> Result<()> {
    let folder = target_folder()?.join("generated");
    let build = folder.join("target");
    let source =
        format!("{MAIN_SOURCE}{}}}\n", generated_packages::operator_code(OPERATOR_COUNT, &["CPU", "CUDA", "Autograd"]));
    let package = generated_packages::write_package(&folder, "many", &source)?;
    let built = build.join("release/many");
    run_cargo(&package, &build, &["build", "--release"])?;
    let without_operators = folder.join("without_operators");
    fs::copy(&built, &without_operators)?;
    eprintln!("building {OPERATOR_COUNT} operators, which takes some minutes the first time");
    run_cargo(&package, &build, &["build", "--release", "--features", "operators"])?;

    let ((base_wall, base_cpu), (wall, cpu)) = (fastest_program_run(&without_operators)?, fastest_program_run(&built)?);
    let assembly = (0..21).map(|_| time_to_build_tables(&built)).collect::<Result<Vec<f64>>>()?;
    let assembly = assembly.into_iter().fold(f64::INFINITY, f64::min);
    let milliseconds = |time: Duration| format!("{:.2} ms", time.as_secs_f64() * 1e3);
    let limit =
        |value: f64, limit: f64| if value > limit { format!("{limit} ms, missed") } else { format!("{limit} ms") };
    let extra = wall.saturating_sub(base_wall);
    println!("A program with {OPERATOR_COUNT} operators and 3 kernels each (the best of many runs):\n");
    let rows = [
        ["process start".to_owned(), milliseconds(extra), limit(extra.as_secs_f64() * 1e3, 2.0)],
        ["the same in CPU time".to_owned(), milliseconds(cpu.saturating_sub(base_cpu)), String::new()],
        ["all dispatch tables".to_owned(), format!("{:.2} ms", assembly * 1e3), limit(assembly * 1e3, 5.0)],
        ["one dispatch table".to_owned(), format!("{:.2} us", assembly * 1e6 / 2000.0), String::new()],
    ];
    table::print_table(["", "more than without operators", "at most"], &rows);
    Ok(())
}

/// Returns the shortest run of a process, from its creation to its end, in wall-clock and CPU time.
fn fastest_program_run(program: &Path) -> Result<(Duration, Duration)> {
    let mut best = (Duration::MAX, Duration::MAX);
    for _ in 0..300 {
        let start = Instant::now();
        let child = Command::new(program).stdout(Stdio::null()).spawn()?;
        #[expect(clippy::cast_possible_wrap)]
        let process = child.id() as libc::pid_t;
        // SAFETY: all zeros are a valid value of this plain structure.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the process is a child of this one, no other code waits for it, and `usage` is only written.
        if unsafe { libc::wait4(process, std::ptr::null_mut(), 0, &raw mut usage) } != process {
            return Err(io::Error::last_os_error().into());
        }
        best = (
            best.0.min(start.elapsed()),
            best.1.min(duration_from_timeval(usage.ru_utime) + duration_from_timeval(usage.ru_stime)),
        );
    }
    Ok(best)
}

fn duration_from_timeval(time: libc::timeval) -> Duration {
    Duration::from_secs(time.tv_sec.unsigned_abs()) + Duration::from_micros(time.tv_usec.unsigned_abs())
}

/// Returns the seconds in which the program builds all dispatch tables.
fn time_to_build_tables(program: &Path) -> Result<f64> {
    let output = Command::new(program).arg("assemble").output()?;
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}
