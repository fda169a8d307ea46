//! The probe in a program with nothing but the runtime.

use std::process::ExitCode;

fn main() -> ExitCode {
    probe::main()
}
