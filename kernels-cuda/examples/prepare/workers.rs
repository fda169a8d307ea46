//! Work for several processes, as many as there are processors: NVRTC compiles one thing at a time in each.
//!
//! A job is a line that a process is told, and its reply is a line, in which zeros stand for ends of lines. Whoever is done is told the next.

use std::io::{self, BufRead, BufReader, Write};
use std::iter;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Has jobs done by processes of a command, and passes on each job with its reply.
pub(crate) fn spread(
    jobs: impl Iterator<Item = String> + Send,
    command: impl Fn() -> Command + Sync,
    replied: impl Fn(&str, &str) + Sync,
) -> io::Result<()> {
    let jobs = Mutex::new(jobs);
    let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
    let talk = || {
        let mut process = command().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        if let (Some(mut ask), Some(said)) = (process.stdin.take(), process.stdout.take()) {
            let mut said = BufReader::new(said).lines();
            for job in iter::from_fn(next) {
                writeln!(ask, "{job}")?;
                let reply = said.next().unwrap_or_else(|| Err(io::Error::other("it ended")))?;
                replied(&job, &reply.replace('\0', "\n"));
            }
        }
        process.wait().map(drop)
    };
    let processors = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..processors).map(|_| scope.spawn(talk)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or(Ok(())))
    })
}

/// Does jobs, in such a process, until there are no more.
pub(crate) fn work(reply: impl Fn(&str) -> String) {
    for job in io::stdin().lines().map_while(Result::ok) {
        println!("{}", reply(&job).replace('\n', "\0"));
    }
}
