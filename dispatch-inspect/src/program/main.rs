//! The inspector over everything that the facade links, which can make calls, too.
//!
//! Seeing calls takes a layer, and the library adds none to the programs that it is to tell about; so `trace` is of this program alone, and `plan`, whose arguments
//! are made in the same way, too.

mod arguments;
mod plan;
mod trace;

use std::process::ExitCode;

use dispatch_inspect::{answer, run};

fn main() -> ExitCode {
    answer(|words, out, style| match words.split_first() {
        Some((command, words)) if command == "trace" => trace::run(words, out, style),
        Some((command, words)) if command == "plan" => plan::run(words, out),
        _ => run(words.iter().cloned(), out, style),
    })
}
