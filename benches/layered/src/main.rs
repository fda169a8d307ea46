//! The probe in a program that PyTorch's operators, autograd, and by default all other layers are linked into.

use std::process::ExitCode;

use opdispatch as _;

fn main() -> ExitCode {
    probe::main()
}
