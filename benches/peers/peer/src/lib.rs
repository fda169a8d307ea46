//! How a program takes part in the comparison.
//!
//! `PROGRAM count WORK` stops itself before it calls, and after 100 calls, 2 and 12 more: whoever traces it counts instructions.
//! `PROGRAM time` reads lines of a number of calls and a work's name, and answers each with the seconds that those calls took.
//! `PROGRAM memory WARM_UP WORK` says by how many bytes some calls of one work raise the most memory that the program had, after some
//! of another. To a work that it does not know it says `-`. `PEER_THREADS` says how many threads it may use.

use std::io::{BufRead, Write};
use std::time::Instant;

/// One call of some work, with all that it needs.
pub type Job = Box<dyn FnMut()>;

/// A job out of a function whose result is dropped.
#[allow(clippy::unnecessary_wraps, reason = "it ends most arms of `prepare`")]
pub fn job<R>(mut call: impl FnMut() -> R + 'static) -> Option<Job> {
    Some(Box::new(move || drop(std::hint::black_box(call()))))
}

/// How many threads a peer may use.
#[must_use]
pub fn threads() -> usize {
    std::env::var("PEER_THREADS").ok().and_then(|threads| threads.parse().ok()).unwrap_or(1)
}

/// Does as it is told, until there is nothing more to do. `prepare` makes the job of a work.
pub fn serve(prepare: impl Fn(&str) -> Option<Job>) {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["count", work] => count(prepare(work)),
        ["time"] => time(&prepare),
        ["memory", warm_up, work] => memory(prepare(warm_up), || prepare(work)),
        _ => eprintln!("a peer is run by `compare`"),
    }
}

/// Few calls, because a processor that stops at every instruction is slow.
fn count(job: Option<Job>) {
    let Some(mut job) = job else { return };
    let mark = || {
        // SAFETY: stops this process until the tracer lets it go on.
        unsafe { libc::raise(libc::SIGSTOP) };
    };
    mark();
    for calls in [100, 2, 12] {
        (0..calls).for_each(|_| job());
        mark();
    }
}

fn time(prepare: &dyn Fn(&str) -> Option<Job>) {
    let mut current: Option<(String, Option<Job>)> = None;
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Some((calls, work)) = line.split_once(' ') else { continue };
        if current.as_ref().is_none_or(|(name, _)| name != work) {
            // What the last work held is given back first.
            drop(current.take());
        }
        let (_, job) = current.get_or_insert_with(|| (work.to_owned(), prepare(work)));
        match job {
            None => println!("-"),
            Some(job) => {
                let start = Instant::now();
                (0..calls.parse().unwrap_or(1)).for_each(|_: u64| job());
                println!("{}", start.elapsed().as_secs_f64());
            }
        }
        // Whoever asked has gone if this fails, and the next line says so.
        let _ = std::io::stdout().flush();
    }
}

/// How much memory a work has at once, beyond what the program has anyhow.
fn memory(warm_up: Option<Job>, prepare: impl FnOnce() -> Option<Job>) {
    const CALLS: usize = 10;
    if let Some(mut warm_up) = warm_up {
        (0..CALLS).for_each(|_| warm_up());
    }
    // Linux begins anew with the most that there was.
    if std::fs::write("/proc/self/clear_refs", "5").is_err() {
        return println!("-");
    }
    let before = resident("VmRSS:");
    let Some(mut job) = prepare() else { return println!("-") };
    (0..CALLS).for_each(|_| job());
    match (before, resident("VmHWM:")) {
        (Some(before), Some(most)) => println!("{}", most.saturating_sub(before)),
        _ => println!("-"),
    }
}

/// The bytes of this process that are in memory, by the name of a line in its status.
fn resident(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}
