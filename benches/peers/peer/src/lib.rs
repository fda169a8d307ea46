//! The protocol between a benchmark program and the comparison.
//!
//! `PROGRAM count WORKLOAD` stops itself before the first call, and after 100, 2 and 12 more calls; the tracer counts instructions.
//! `PROGRAM time` reads lines with a number of calls and a workload's name, and answers each line with the seconds that the calls took.
//! `PROGRAM memory WARM_UP WORKLOAD` prints by how many bytes calls of `WORKLOAD` raise the peak memory above the memory after `WARM_UP`.
//! The answer to an unknown workload is `-`. `PEER_THREADS` is the number of threads that the program may use.

use std::io::{BufRead, Write};
use std::time::Instant;

/// A closure that makes one call of a workload, and owns its operands.
pub type Job = Box<dyn FnMut()>;

/// Returns a job that calls a function and drops its result.
#[allow(clippy::unnecessary_wraps, reason = "it ends most arms of `job_for_workload`")]
pub fn new_job<R>(mut call: impl FnMut() -> R + 'static) -> Option<Job> {
    Some(Box::new(move || drop(std::hint::black_box(call()))))
}

/// Returns the number of threads that the program may use.
#[must_use]
pub fn thread_count() -> usize {
    std::env::var("PEER_THREADS").ok().and_then(|threads| threads.parse().ok()).unwrap_or(1)
}

/// Runs the command from the program's arguments. `job_for_workload` returns the job of the workload with a name.
pub fn run_command(job_for_workload: impl Fn(&str) -> Option<Job>) {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["count", workload] => stop_between_calls(job_for_workload(workload)),
        ["time"] => time_calls(&job_for_workload),
        ["memory", warm_up, workload] => print_peak_memory(job_for_workload(warm_up), || job_for_workload(workload)),
        _ => eprintln!("a peer is started by `compare`"),
    }
}

/// Makes calls between stops for the tracer. There are few calls, because single-stepping is slow.
fn stop_between_calls(job: Option<Job>) {
    let Some(mut job) = job else { return };
    let stop = || {
        // SAFETY: stops this process until the tracer continues it.
        unsafe { libc::raise(libc::SIGSTOP) };
    };
    stop();
    for calls in [100, 2, 12] {
        (0..calls).for_each(|_| job());
        stop();
    }
}

/// Answers each line with the seconds that its calls take.
fn time_calls(job_for_workload: &dyn Fn(&str) -> Option<Job>) {
    let mut current: Option<(String, Option<Job>)> = None;
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Some((calls, workload)) = line.split_once(' ') else { continue };
        if current.as_ref().is_none_or(|(name, _)| name != workload) {
            // Frees the memory of the last workload before the next one allocates.
            drop(current.take());
        }
        let (_, job) = current.get_or_insert_with(|| (workload.to_owned(), job_for_workload(workload)));
        match job {
            None => println!("-"),
            Some(job) => {
                let start = Instant::now();
                (0..calls.parse().unwrap_or(1)).for_each(|_: u64| job());
                println!("{}", start.elapsed().as_secs_f64());
            }
        }
        // If this fails, the comparison has ended, and so does the input.
        let _ = std::io::stdout().flush();
    }
}

/// Prints by how many bytes a workload raises the peak memory of the program.
fn print_peak_memory(warm_up: Option<Job>, job_for_workload: impl FnOnce() -> Option<Job>) {
    const CALL_COUNT: usize = 10;
    if let Some(mut warm_up) = warm_up {
        (0..CALL_COUNT).for_each(|_| warm_up());
    }
    // Resets the peak resident set size (`VmHWM`).
    if std::fs::write("/proc/self/clear_refs", "5").is_err() {
        return println!("-");
    }
    let before = read_memory_size("VmRSS:");
    let Some(mut job) = job_for_workload() else { return println!("-") };
    (0..CALL_COUNT).for_each(|_| job());
    match (before, read_memory_size("VmHWM:")) {
        (Some(before), Some(peak)) => println!("{}", peak.saturating_sub(before)),
        _ => println!("-"),
    }
}

/// Returns a memory size of this process in bytes, from the line `name` of `/proc/self/status`.
fn read_memory_size(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}
