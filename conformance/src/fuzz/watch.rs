//! The watching process of the fuzzer: starts worker processes, which run the trials, and prints findings.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::worker::{Line, innermost};

/// The time after which a trial counts as an endless loop.
const PATIENCE: Duration = Duration::from_mins(1);

/// The memory limit of a worker in KiB, so that a large allocation ends the worker and not the machine. It is small enough that an
/// unoptimised kernel can process all of it within [`PATIENCE`].
const MEMORY: u32 = 4 << 18;

#[derive(Default)]
pub(super) struct Tally {
    operators: HashSet<String>,
    calls: u64,
    results: u64,
    refused: u64,
    /// The number of findings by operator and cause.
    pub(super) findings: BTreeMap<String, u64>,
}

impl Tally {
    pub(super) fn print(&self) {
        let Self { operators, calls, results, refused, findings } = self;
        println!(
            "{} operators, {calls} trials: {results} gave results, {refused} were refused; {} findings, {} distinct",
            operators.len(),
            findings.values().sum::<u64>(),
            findings.len()
        );
    }
}

/// Starts and watches workers until the time is over. `arguments` are the worker's arguments, and `repeat` returns the command that repeats
/// a trial.
pub(super) fn watch(arguments: &[String], repeat: &dyn Fn(u64) -> String, time: Duration) -> io::Result<Tally> {
    let (end, mut tally, mut next) = (Instant::now() + time, Tally::default(), 0);
    while Instant::now() < end {
        let mut worker = start(arguments, next)?;
        let mut last = Last::default();
        let died = follow(&mut worker, end, &mut last, &mut tally, repeat);
        // The worker may still run: the time is over, or the trial hangs.
        _ = worker.child.kill();
        let status = worker.child.wait()?;
        if let Some(died) = died {
            let what = match died {
                Died::Silent => format!("no end after {} s", PATIENCE.as_secs()),
                Died::Gone => format!("{status}: {}", worker.last_words()),
            };
            if last.is_running {
                note(&last, &what, &mut tally, repeat);
            } else {
                return Err(io::Error::other(format!("the worker ends without a trial: {what}")));
            }
        }
        next = last.number + 1;
    }
    Ok(tally)
}

struct Worker {
    child: Child,
    lines: Receiver<String>,
    complaints: Option<thread::JoinHandle<String>>,
}

impl Worker {
    /// Returns the worker's last error message, and the first function of its backtrace that is not of the standard library.
    fn last_words(&mut self) -> String {
        let all = self.complaints.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        let before = all.split("stack backtrace:").next().unwrap_or_default();
        let said = before.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        let place = innermost(&all).unwrap_or("an unknown place");
        format!("{said} at {place}")
    }
}

fn start(arguments: &[String], from: u64) -> io::Result<Worker> {
    let limited = format!("ulimit -v {MEMORY} && exec \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &limited, "sh"]).arg(std::env::current_exe()?).args(arguments);
    command.args(["--worker", &from.to_string()]).env("RUST_BACKTRACE", "1");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (send, lines) = channel();
    if let Some(out) = child.stdout.take() {
        thread::spawn(move || {
            let lines = BufReader::new(out).lines().map_while(Result::ok);
            lines.map(|line| send.send(line)).take_while(Result::is_ok).for_each(drop);
        });
    }
    let complaints = child.stderr.take().map(|mut complaints| {
        thread::spawn(move || {
            let mut all = Vec::new();
            _ = complaints.read_to_end(&mut all);
            String::from_utf8_lossy(&all).into_owned()
        })
    });
    Ok(Worker { child, lines, complaints })
}

/// The latest trial of a worker.
#[derive(Default)]
struct Last {
    number: u64,
    operator: String,
    trial: String,
    is_running: bool,
}

enum Died {
    Silent,
    Gone,
}

/// Reads the lines of a worker until the time is over, a trial takes too long, or the worker ends.
fn follow(
    worker: &mut Worker,
    end: Instant,
    last: &mut Last,
    tally: &mut Tally,
    repeat: &dyn Fn(u64) -> String,
) -> Option<Died> {
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let line = match worker.lines.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => return Some(Died::Silent),
            Err(RecvTimeoutError::Disconnected) => return Some(Died::Gone),
        };
        match Line::parse(&line) {
            Some(Line::Begins { .. }) if left.is_zero() => return None,
            Some(Line::Begins { number, operator }) => {
                tally.calls += 1;
                if !tally.operators.contains(operator) {
                    tally.operators.insert(operator.to_owned());
                }
                *last = Last { number, operator: operator.to_owned(), trial: String::new(), is_running: true };
            }
            Some(Line::Is(trial)) => trial.clone_into(&mut last.trial),
            Some(Line::Results) => {
                tally.results += 1;
                last.is_running = false;
            }
            Some(Line::Refused) => {
                tally.refused += 1;
                last.is_running = false;
            }
            Some(Line::Found(what)) => {
                note(last, what, tally, repeat);
                last.is_running = false;
            }
            // An operator may print.
            None => {}
        }
    }
}

/// Counts a finding, and prints it if it is the first of its operator and cause.
fn note(last: &Last, what: &str, tally: &mut Tally, repeat: &dyn Fn(u64) -> String) {
    // The numbers in a message differ between trials, but a source location does not.
    let (before, place) = what.rsplit_once(" at ").unwrap_or((what, ""));
    let cause = if place.is_empty() { before.split(':').next().unwrap_or_default() } else { place };
    let count = tally.findings.entry(format!("{} {cause}", last.operator)).or_default();
    *count += 1;
    if *count == 1 {
        println!("\n{}: {}", last.operator, what.replace('\t', "\n  "));
        println!("  {}\n  repeat: {}", last.trial, repeat(last.number));
    }
}
