//! Distributes jobs to several processes, as many as there are processors: NVRTC compiles one program at a time in each.
//!
//! A job is a line on a process's standard input. Its reply is a line on standard output, in which zero bytes replace line ends. A process
//! that has replied gets the next job.

use std::io::{self, BufRead, BufReader, Write};
use std::iter;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Runs jobs in processes of a command, and calls `on_reply` with each job and its reply.
pub(crate) fn run_jobs_in_processes(
    jobs: impl Iterator<Item = String> + Send,
    command: impl Fn() -> Command + Sync,
    on_reply: impl Fn(&str, &str) + Sync,
) -> io::Result<()> {
    let jobs = Mutex::new(jobs);
    let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
    let serve = || {
        let mut process = command().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        if let (Some(mut requests), Some(replies)) = (process.stdin.take(), process.stdout.take()) {
            let mut replies = BufReader::new(replies).lines();
            for job in iter::from_fn(next) {
                writeln!(requests, "{job}")?;
                let reply = replies.next().unwrap_or_else(|| Err(io::Error::other("the process ended")))?;
                on_reply(&job, &reply.replace('\0', "\n"));
            }
        }
        process.wait().map(drop)
    };
    let processors = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..processors).map(|_| scope.spawn(serve)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or(Ok(())))
    })
}

/// Runs jobs in a worker process, until there are no more.
pub(crate) fn run_jobs_from_stdin(reply: impl Fn(&str) -> String) {
    for job in io::stdin().lines().map_while(Result::ok) {
        println!("{}", reply(&job).replace('\n', "\0"));
    }
}
