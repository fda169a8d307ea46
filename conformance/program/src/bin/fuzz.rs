//! Calls operators with arguments that no caller would think of, and tells what is no result and no typed error.
#![forbid(unsafe_code)]

use std::process::ExitCode;

// Its kernels are tried.
use kernels_cpu as _;

fn main() -> ExitCode {
    conformance::fuzz::main()
}
