//! What the benchmarks share: building programs, counting their instructions, and tables.

pub mod build;
pub mod steps;
pub mod table;

/// What can go wrong is said to whoever runs the benchmark, and that is all.
pub type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;
