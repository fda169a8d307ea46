//! Calls with unusual arguments. An operator must give results or a typed error for all of them.
//!
//! A *trial* is a recorded call, or one made from the schema, with a few arguments replaced by boundary values; or the text of a graph
//! with other numbers in it. Trials are drawn from a seed and a number, so any of them can be repeated. The program `fuzz` makes them
//! one after the other in a process of its own, which another one watches, because aborts and endless loops are findings too.
//!
//! Trials that were findings once are kept as text in `golden/found.jsonl`, and a test repeats them.

mod boundaries;
mod draw;
mod graph;
mod mutate;
mod plausible;
mod program;
mod random;
mod run;
mod text;
mod trial;
mod watch;
mod worker;

pub use program::main;
pub use run::Outcome;
pub use trial::Trial;
