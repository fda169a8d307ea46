//! A running benchmark program, controlled over a pipe.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use measure::Result;

use crate::program::Program;

/// A process of a peer, which times workloads on request.
pub(crate) struct RunningProgram {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl RunningProgram {
    pub(crate) fn start(program: &Program, threads: usize) -> Result<Self> {
        let mut child = program.command(threads).arg("time").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("a peer has no pipes".into());
        };
        Ok(Self { child, input, output: BufReader::new(output) })
    }

    /// Returns the seconds that `calls` calls take, or `None` if the program does not know the workload.
    pub(crate) fn time_calls(&mut self, workload: &str, calls: u64) -> Result<Option<f64>> {
        writeln!(self.input, "{calls} {workload}")?;
        self.input.flush()?;
        let mut answer = String::new();
        self.output.read_line(&mut answer)?;
        match answer.trim() {
            "" => Err(format!("a peer ended during `{workload}`").into()),
            "-" => Ok(None),
            seconds => Ok(Some(seconds.parse()?)),
        }
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
