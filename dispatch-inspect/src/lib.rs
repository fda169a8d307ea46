//! Inspector of the operators of a program: their definitions, their tables, and the kernel that a call reaches.
//!
//! An application that is to answer questions about its own operators adds a program of one line:
//!
//! ```no_run
//! use std::process::ExitCode;
//! // use {my_operators as _, my_backend as _};
//!
//! fn main() -> ExitCode {
//!     dispatch_inspect::main()
//! }
//! ```
//!
//! Each answer is a value that can be serialised - an [`OperatorInfo`], a table of [`Cell`]s, a [`CallExplanation`], a [`WhatIf`], a
//! [`Coverage`] - and converted to text. The runtime makes the tables and explains the calls; this crate only asks it.
//!
//! ```
//! use dispatch_runtime::prelude::*;
//!
//! #[op_def("halve(Tensor self) -> Tensor")]
//! pub fn halve(this: &Tensor) -> Result<Tensor>;
//!
//! #[op_impl(halve, CPU)]
//! fn halve_cpu(this: &Tensor) -> Tensor { this.clone() }
//!
//! let explanation = dispatch_inspect::CallExplanation::of(halve::operator(), &["cpu,f32".to_owned()]).unwrap();
//! assert_eq!(explanation.winner.unwrap().name, "halve_cpu");
//! ```
#![forbid(unsafe_code)]

mod call_arguments;
mod call_explanation;
mod cell;
mod cell_detail;
mod command;
mod coverage;
mod doc_comment;
mod docs;
mod failure;
mod find_operator;
mod guards;
mod operator_info;
mod page;
mod text;
mod what_if;

use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

pub use call_explanation::CallExplanation;
pub use cell::{Cell, Kernel, KernelKind, Place, table};
pub use command::{Found, run};
pub use coverage::{Coverage, Row};
pub use docs::pages;
pub use failure::Failure;
pub use find_operator::{find, matching};
pub use guards::Guards;
pub use operator_info::{Derivative, OperatorInfo};
pub use page::page;
pub use text::{Style, list, table_text};
pub use what_if::{Change, WhatIf};

/// Runs the inspector as a program, with the command line of this process. It writes the answer to standard output, and errors to standard
/// error.
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     dispatch_inspect::main()
/// }
/// ```
#[must_use]
pub fn main() -> ExitCode {
    answer(|words, out, style| run(words.iter().cloned(), out, style))
}

/// Runs a program with further commands. `command` gets the words after the program's name, the output, and the style.
///
/// ```no_run
/// use dispatch_inspect::{Found, answer, run};
///
/// fn main() -> std::process::ExitCode {
///     answer(|words, out, style| match words {
///         [word] if word == "version" => {
///             writeln!(out, "{}", env!("CARGO_PKG_VERSION"))?;
///             Ok(Found::Answer)
///         }
///         _ => run(words.iter().cloned(), out, style),
///     })
/// }
/// ```
#[must_use]
pub fn answer(command: impl FnOnce(&[String], &mut dyn Write, Style) -> Result<Found, Failure>) -> ExitCode {
    let wants_colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut out = std::io::stdout().lock();
    let style = if wants_colour && out.is_terminal() { Style::Colour } else { Style::Plain };
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let found = command(&words, &mut out, style).and_then(|found| {
        out.flush()?;
        Ok(found)
    });
    match found {
        Ok(Found::Answer) => ExitCode::SUCCESS,
        Ok(Found::Finding) => ExitCode::from(1),
        // The reader has closed the output, as `head` does when it has enough.
        Err(Failure::Io(error)) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            // If even the message cannot be written, the exit code still reports the failure.
            _ = writeln!(std::io::stderr(), "error: {failure}");
            failure.code()
        }
    }
}
