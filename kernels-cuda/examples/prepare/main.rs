//! Compiles every kernel of the CUDA backend ahead of time, on a machine that needs no GPU: `prepare sm_90` for the H100 and H200.
//!
//! The code is written to the disk cache, in which programs look for it; the folder that `OPDISPATCH_CUDA_CACHE` names can be shipped with
//! them. Cached code is not compiled again, so another run completes an interrupted one.

mod workers;

use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use kernels_cuda::{CudaError, cache_folder, kernel_sources};

/// The argument of the worker processes.
const WORKER_ARGUMENT: &str = "worker";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words == [WORKER_ARGUMENT] {
        workers::run_jobs_from_stdin(|job| match compile_job(job) {
            Ok(count) => count.to_string(),
            Err(error) => error.to_string(),
        });
        return ExitCode::SUCCESS;
    }
    let architectures: Option<Vec<u32>> = words.iter().map(|word| word.strip_prefix("sm_")?.parse().ok()).collect();
    match architectures {
        Some(architectures) if !architectures.is_empty() => compile_all_kernels(&architectures),
        _ => {
            eprintln!("usage: prepare sm_NUMBER...\nfor example: prepare sm_80 sm_90");
            ExitCode::from(2)
        }
    }
}

fn compile_all_kernels(architectures: &[u32]) -> ExitCode {
    let start = Instant::now();
    let jobs =
        architectures.iter().flat_map(|sm| kernel_sources().map(move |kernel| format!("{sm} {}", kernel.name())));
    let (instances, failures) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let on_reply = |job: &str, reply: &str| match reply.parse() {
        Ok(0) => {}
        Ok(count) => {
            println!("sm_{job}: {count}");
            instances.fetch_add(count, Ordering::Relaxed);
        }
        Err(_) => {
            eprintln!("sm_{job}: {reply}");
            failures.fetch_add(1, Ordering::Relaxed);
        }
    };
    let again = std::env::current_exe().unwrap_or_default();
    let worker = || {
        let mut command = Command::new(&again);
        command.arg(WORKER_ARGUMENT);
        command
    };
    let done = workers::run_jobs_in_processes(jobs, worker, on_reply);
    let folder = cache_folder().unwrap_or_default();
    let seconds = start.elapsed().as_secs_f64();
    println!("{} instances compiled in {seconds:.0} s, into {}", instances.into_inner(), folder.display());
    match done {
        Ok(()) if failures.into_inner() == 0 => ExitCode::SUCCESS,
        Ok(()) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("a compiling process failed: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Compiles a job such as `90 add`, and returns the number of instances that were not in the cache.
fn compile_job(job: &str) -> Result<usize, CudaError> {
    let (sm, name) = job.split_once(' ').unwrap_or_default();
    let sm = sm.parse().unwrap_or(0);
    kernel_sources().filter(|kernel| kernel.name() == name).map(|kernel| kernel.compile_into_cache(sm)).sum()
}
