//! The probe in a program with PyTorch's operators, autograd, and by default all other layers linked.

use std::process::ExitCode;

use opdispatch as _;

fn main() -> ExitCode {
    probe::main()
}
