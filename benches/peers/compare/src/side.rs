//! A running benchmark program, controlled over a pipe.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use measure::Result;

use crate::program::Program;

/// A running program of the comparison.
pub(crate) struct Side {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Side {
    pub(crate) fn start(program: &Program, threads: usize) -> Result<Self> {
        let mut child = program.command(threads).arg("time").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("a peer has no pipes".into());
        };
        Ok(Self { child, input, output: BufReader::new(output) })
    }

    /// Returns the seconds that `calls` calls take, or `None` if the program does not know the work.
    pub(crate) fn time(&mut self, work: &str, calls: u64) -> Result<Option<f64>> {
        writeln!(self.input, "{calls} {work}")?;
        self.input.flush()?;
        let mut answer = String::new();
        self.output.read_line(&mut answer)?;
        match answer.trim() {
            "" => Err(format!("a peer ended over `{work}`").into()),
            "-" => Ok(None),
            seconds => Ok(Some(seconds.parse()?)),
        }
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
