//! Shared code of the benchmarks: building programs, counting their instructions, and printing tables.

pub mod build;
pub mod single_step;
pub mod table;

/// A result of a benchmark. Errors are only printed, so they have no type of their own.
pub type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;
