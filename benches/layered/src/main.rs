//! The probe in a program that all layers and all of PyTorch's operators are linked into.

use std::process::ExitCode;

use opdispatch as _;

fn main() -> ExitCode {
    probe::main()
}
