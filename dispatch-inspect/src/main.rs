//! The inspector over everything that the facade links.

use std::process::ExitCode;

use opdispatch as _;

fn main() -> ExitCode {
    dispatch_inspect::main()
}
