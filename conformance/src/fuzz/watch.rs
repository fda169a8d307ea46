//! The watching process of the fuzzer: starts worker processes, which run the trials, and prints findings.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::worker::{WorkerLine, innermost_tested_function};
use crate::command_line::DelayedProgressBar;

/// The time after which a trial counts as an endless loop.
const TRIAL_TIME_LIMIT: Duration = Duration::from_mins(1);

/// The memory limit of a worker in KiB, so that a large allocation ends the worker and not the machine. It is small enough that an
/// unoptimised kernel can process all of it within [`TRIAL_TIME_LIMIT`].
const WORKER_MEMORY_LIMIT: u32 = 4 << 18;

/// The outcomes of trials, counted.
#[derive(Default)]
pub(super) struct TrialCounts {
    operators: HashSet<String>,
    trials: u64,
    results: u64,
    refused: u64,
    /// The number of findings by operator and cause.
    pub(super) findings: BTreeMap<String, u64>,
}

impl fmt::Display for TrialCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operators, trials, results, refused, findings } = self;
        write!(
            f,
            "{} operators, {trials} trials: {results} gave results, {refused} were refused; {} findings, {} distinct",
            operators.len(),
            findings.values().sum::<u64>(),
            findings.len()
        )
    }
}

/// Starts and watches workers for this time. `arguments` are the worker's arguments, and `repeat` returns the command that repeats a trial.
///
/// # Errors
///
/// Returns an error if a worker cannot be started, if it ends without a trial, or if a finding cannot be printed.
pub(super) fn watch_workers(
    arguments: &[String],
    repeat: &dyn Fn(u64) -> String,
    time: Duration,
) -> io::Result<TrialCounts> {
    let start = Instant::now();
    let (tally, bar) = (TrialCounts::default(), DelayedProgressBar::new(time.as_secs()));
    let mut watcher = Watcher { repeat, start, end: start + time, tally, bar };
    let mut next = 0;
    while Instant::now() < watcher.end {
        next = watcher.watch_worker(WorkerProcess::start(arguments, next)?)? + 1;
    }
    watcher.bar.finish();
    Ok(watcher.tally)
}

struct WorkerProcess {
    child: Child,
    lines: Receiver<String>,
    /// The thread that reads the standard error of the process.
    errors: Option<thread::JoinHandle<String>>,
}

impl WorkerProcess {
    /// Starts a worker process that runs all trials from number `from` on.
    fn start(arguments: &[String], from: u64) -> io::Result<Self> {
        let limited = format!("ulimit -v {WORKER_MEMORY_LIMIT} && exec \"$@\"");
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
        let errors = child.stderr.take().map(|mut errors| {
            thread::spawn(move || {
                let mut all = Vec::new();
                _ = errors.read_to_end(&mut all);
                String::from_utf8_lossy(&all).into_owned()
            })
        });
        Ok(Self { child, lines, errors })
    }

    /// Returns the last error message of a crashed worker, and the first function of its backtrace that is not of the standard library.
    fn crash_message(&mut self) -> String {
        let all = self.errors.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        let before = all.split("stack backtrace:").next().unwrap_or_default();
        let message = before.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        let function = innermost_tested_function(&all).unwrap_or("an unknown place");
        format!("{message} at {function}")
    }
}

/// The latest trial of a worker.
#[derive(Default)]
struct LatestTrial {
    number: u64,
    operator: String,
    text: String,
    is_running: bool,
}

/// The cause for which a worker is no longer watched.
enum WorkerEnd {
    /// The time of the fuzzer is over.
    TimeOver,
    /// The trial takes longer than [`TRIAL_TIME_LIMIT`].
    TrialHangs,
    /// The process has ended.
    ProcessExited,
}

/// The state of the watching process.
struct Watcher<'a> {
    repeat: &'a dyn Fn(u64) -> String,
    start: Instant,
    end: Instant,
    tally: TrialCounts,
    bar: DelayedProgressBar,
}

impl Watcher<'_> {
    /// Watches a worker until it ends or must be ended, and returns the number of its last trial.
    fn watch_worker(&mut self, mut worker: WorkerProcess) -> io::Result<u64> {
        let mut trial = LatestTrial::default();
        let end = self.read_worker_lines(&worker, &mut trial);
        // The worker may still run: the time is over, or the trial hangs.
        _ = worker.child.kill();
        let status = worker.child.wait()?;
        let finding = match end? {
            WorkerEnd::TimeOver => return Ok(trial.number),
            WorkerEnd::TrialHangs => format!("no end after {} s", TRIAL_TIME_LIMIT.as_secs()),
            WorkerEnd::ProcessExited => format!("{status}: {}", worker.crash_message()),
        };
        if !trial.is_running {
            return Err(io::Error::other(format!("the worker ends without a trial: {finding}")));
        }
        self.count_finding(&trial, &finding)?;
        Ok(trial.number)
    }

    /// Reads the lines of a worker until the time is over, a trial takes too long, or the worker ends.
    fn read_worker_lines(&mut self, worker: &WorkerProcess, trial: &mut LatestTrial) -> io::Result<WorkerEnd> {
        loop {
            let left = self.end.saturating_duration_since(Instant::now());
            let line = match worker.lines.recv_timeout(TRIAL_TIME_LIMIT) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => return Ok(WorkerEnd::TrialHangs),
                Err(RecvTimeoutError::Disconnected) => return Ok(WorkerEnd::ProcessExited),
            };
            match WorkerLine::parse(&line) {
                Some(WorkerLine::TrialBegins { .. }) if left.is_zero() => return Ok(WorkerEnd::TimeOver),
                Some(WorkerLine::TrialBegins { number, operator }) => {
                    self.tally.trials += 1;
                    if !self.tally.operators.contains(operator) {
                        self.tally.operators.insert(operator.to_owned());
                    }
                    let findings = self.tally.findings.len();
                    let text = format!("seconds, {} trials, {findings} distinct findings", self.tally.trials);
                    self.bar.update(self.start.elapsed().as_secs(), &text);
                    *trial =
                        LatestTrial { number, operator: operator.to_owned(), text: String::new(), is_running: true };
                }
                Some(WorkerLine::TrialText(text)) => text.clone_into(&mut trial.text),
                Some(WorkerLine::Results) => {
                    self.tally.results += 1;
                    trial.is_running = false;
                }
                Some(WorkerLine::Refused) => {
                    self.tally.refused += 1;
                    trial.is_running = false;
                }
                Some(WorkerLine::Finding(finding)) => {
                    self.count_finding(trial, finding)?;
                    trial.is_running = false;
                }
                // An operator may print.
                None => {}
            }
        }
    }

    /// Counts a finding, and prints it if it is the first of its operator and cause.
    fn count_finding(&mut self, trial: &LatestTrial, finding: &str) -> io::Result<()> {
        // The numbers in a message differ between trials, but a source location does not.
        let (message, location) = finding.rsplit_once(" at ").unwrap_or((finding, ""));
        let cause = if location.is_empty() { message.split(':').next().unwrap_or_default() } else { location };
        let count = self.tally.findings.entry(format!("{} {cause}", trial.operator)).or_default();
        *count += 1;
        if *count > 1 {
            return Ok(());
        }
        let (finding, repeat) = (finding.replace('\t', "\n  "), (self.repeat)(trial.number));
        let LatestTrial { operator, text, .. } = trial;
        self.bar.suspend(|| writeln!(io::stdout(), "\n{operator}: {finding}\n  {text}\n  repeat: {repeat}"))
    }
}
