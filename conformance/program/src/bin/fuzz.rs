//! The program `fuzz`: calls operators with unusual arguments, and prints outcomes that are neither results nor typed errors.
#![forbid(unsafe_code)]

use std::process::ExitCode;

// Links the kernels under test.
use {dispatch_vision as _, kernels_cpu as _};

fn main() -> ExitCode {
    conformance::fuzz::main()
}
