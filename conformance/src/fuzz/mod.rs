//! A fuzzer of operators: calls with unusual arguments, for which an operator must return results or a typed error.
//!
//! A *trial* is a call, recorded or made from the schema, with a few arguments replaced by boundary values; or the text of a graph with
//! changed numbers. Trials are drawn from a seed and a number, so any trial can be repeated. The program `fuzz` runs trials in a worker
//! process that another process watches, because aborts and endless loops are findings too.
//!
//! Trials that once were findings are stored in `golden/found.jsonl`, and a test repeats them.

// Without the command line, trials can be parsed and run, but not drawn.
#![cfg_attr(not(feature = "command-line"), allow(dead_code, unused_imports))]

mod boundaries;
mod graph;
mod mutate;
mod plausible_call;
#[cfg(feature = "command-line")]
mod program;
mod random;
mod run;
mod trial;
mod trial_json;
mod trial_source;
#[cfg(feature = "command-line")]
mod watch;
mod worker;

#[cfg(feature = "command-line")]
pub use program::main;
pub use run::Outcome;
pub use trial::Trial;
