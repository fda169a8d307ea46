//! The probe in a program with only the runtime linked.

use std::process::ExitCode;

fn main() -> ExitCode {
    probe::main()
}
