//! The output of a command, as text or as JSON.

use std::io::Write;

use serde::Serialize;

use crate::{Failure, Style};

/// The outcome of a command.
///
/// ```
/// use dispatch_inspect::{CommandOutcome, Style, run};
/// let outcome = run(["help".to_owned()], &mut Vec::new(), Style::Plain).unwrap();
/// assert_eq!(outcome, CommandOutcome::Answered);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CommandOutcome {
    /// The command has answered the question.
    Answered,
    /// The command has answered that a call would fail. A program should end with exit code 1.
    CallFails,
}

/// The output of a command: a stream, and the format of the answer.
///
/// [`RunCommand`](crate::RunCommand) has an example.
pub struct Output<'a> {
    pub(crate) out: &'a mut dyn Write,
    pub(crate) style: Style,
    pub(crate) as_json: bool,
}

impl std::fmt::Debug for Output<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Output").field("style", &self.style).field("as_json", &self.as_json).finish_non_exhaustive()
    }
}

impl Output<'_> {
    /// Returns whether the answer is JSON: the command line has `--json`.
    #[must_use]
    pub const fn is_json(&self) -> bool {
        self.as_json
    }

    /// Writes a value as JSON if the command line has `--json`, and as text otherwise.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::Io`] if the stream cannot be written.
    pub fn write_answer(
        &mut self,
        value: &impl Serialize,
        text: impl FnOnce(Style) -> String,
    ) -> Result<CommandOutcome, Failure> {
        if self.as_json {
            serde_json::to_writer_pretty(&mut *self.out, value).map_err(std::io::Error::from)?;
            return self.write_text("\n");
        }
        self.write_text(&text(self.style))
    }

    /// Writes text.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::Io`] if the stream cannot be written.
    pub fn write_text(&mut self, text: &str) -> Result<CommandOutcome, Failure> {
        self.out.write_all(text.as_bytes())?;
        Ok(CommandOutcome::Answered)
    }
}
