//! Runs one path, for the report to measure.
//!
//! `probe count PATH [LIBRARY]` stops itself before 10 calls, after them, and after 110 more; the tracer counts instructions.
//! `probe time PATH [LIBRARY]` prints the nanoseconds per call. The path is an index. With a library, the operators, the runtime
//! and the loop are in the library.

use std::process::ExitCode;
use std::time::Instant;

use paths::CALL_PATHS;

type RunPathFn = dyn Fn(usize, &[u64], &mut dyn FnMut());

/// Runs the command from the program's arguments.
#[must_use]
pub fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (command, path, library) = match &arguments[..] {
        [command, path] => (command, path.parse(), None),
        [command, path, library] => (command, path.parse(), Some(library)),
        _ => return ExitCode::FAILURE,
    };
    let Ok(path) = path else { return ExitCode::FAILURE };
    match library {
        None => measure_path(command, path, &|path, rounds, mark| CALL_PATHS[path].run_rounds(rounds, mark)),
        Some(library) => {
            // SAFETY: the library is `shared` of this workspace, whose start-up code only collects registrations.
            let library = unsafe { libloading::Library::new(library) }.expect("the library exists and can be loaded");
            // SAFETY: `shared` defines the function with this type, and was built by the same compiler.
            let run = unsafe { library.get::<fn(usize, &[u64], &mut dyn FnMut())>(b"opdispatch_run_path") };
            measure_path(command, path, &*run.expect("the library exports the function"));
        }
    }
    ExitCode::SUCCESS
}

fn measure_path(command: &str, path: usize, run: &RunPathFn) {
    if command == "count" {
        run(path, &[10, 10, 110], &mut || {
            // SAFETY: stops this process until the tracer continues it.
            unsafe { libc::raise(libc::SIGSTOP) };
        });
        return;
    }
    const CALLS_PER_ROUND: u64 = 200_000;
    let mut last = Instant::now();
    let mut best = f64::INFINITY;
    let mut first = true;
    run(path, &[CALLS_PER_ROUND; 40], &mut || {
        let now = Instant::now();
        if !first {
            best = best.min((now - last).as_secs_f64());
        }
        first = false;
        last = now;
    });
    #[expect(clippy::cast_precision_loss)]
    let per_call = best * 1e9 / CALLS_PER_ROUND as f64;
    println!("{per_call}");
}
