//! A process that runs one program, controlled over a pipe.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use measure::Result;

use crate::peer::Pass;

/// The environment variable with the path of a Python that has PyTorch.
const PYTHON_VARIABLE: &str = "PEERS_PYTHON";

/// A side of the comparison.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Ours,
    Eager,
    Compiled,
}

/// A row of the table: what is measured on each side.
#[derive(Clone, Copy)]
pub(crate) struct Workload<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) name: &'a str,
    pub(crate) pass: Pass,
    pub(crate) threads: usize,
}

impl Workload<'_> {
    fn command(self, side: Side, command: &str) -> Result<Command> {
        let mut process = match side {
            Side::Ours => Command::new(env::current_exe()?),
            Side::Eager | Side::Compiled => {
                let mut python =
                    Command::new(env::var_os(PYTHON_VARIABLE).map_or_else(|| "python3".into(), PathBuf::from));
                python.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("torch_peer.py"));
                python
            }
        };
        process.arg(command).arg(self.folder).args([self.name, self.pass.mode(), &self.threads.to_string()]);
        Ok(process)
    }

    /// Returns the numbers that a process prints for `load`, `map` or `check`.
    pub(crate) fn measure_once<const N: usize>(self, side: Side, command: &str) -> Result<[f64; N]> {
        let output = self.command(side, command)?.stderr(Stdio::inherit()).output()?;
        let answer = String::from_utf8_lossy(&output.stdout).into_owned();
        let words = answer.lines().last().into_iter().flat_map(str::split_whitespace);
        let numbers: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
        numbers.try_into().map_err(|_| format!("`{command}` of {} failed", self.name).into())
    }

    /// Starts a process, and waits until it is ready to be measured.
    pub(crate) fn start(self, side: Side) -> Result<RunningPeer> {
        let command = match side {
            Side::Ours => "run",
            Side::Eager => "eager",
            Side::Compiled => "compile",
        };
        let mut child = self.command(side, command)?.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("a peer has no pipes".into());
        };
        let mut peer = RunningPeer { child, input, output: BufReader::new(output) };
        loop {
            if peer.read_answer()? == "ready" {
                return Ok(peer);
            }
        }
    }
}

/// A process that is ready to be measured.
pub(crate) struct RunningPeer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl RunningPeer {
    /// Returns the seconds that `calls` calls take.
    pub(crate) fn time_calls(&mut self, calls: u32) -> Result<f64> {
        self.request(&calls.to_string())
    }

    /// Returns the peak memory of the process in bytes.
    pub(crate) fn peak_memory(&mut self) -> Result<f64> {
        self.request("memory")
    }

    fn request(&mut self, line: &str) -> Result<f64> {
        writeln!(self.input, "{line}")?;
        self.input.flush()?;
        Ok(self.read_answer()?.parse()?)
    }

    fn read_answer(&mut self) -> Result<String> {
        let mut answer = String::new();
        if self.output.read_line(&mut answer)? == 0 {
            return Err("a peer ended".into());
        }
        Ok(answer.trim().to_owned())
    }
}

impl Drop for RunningPeer {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
