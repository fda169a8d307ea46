//! The inspector with every operator that the facade links. It can make calls, too.
//!
//! Observing calls takes a layer, and the library adds no layer to the programs that it inspects. So only this program has `trace`, and
//! `plan`, whose arguments are parsed in the same way.

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
