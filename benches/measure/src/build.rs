//! Builds the programs under measurement.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;

/// Returns the target folder of this program, into which it also builds the programs under measurement.
///
/// # Errors
///
/// Returns an error if this program is not in a target folder of cargo.
pub fn target_folder() -> Result<PathBuf> {
    let program = env::current_exe()?;
    Ok(program.ancestors().nth(2).ok_or("this program is not in a target folder")?.to_owned())
}

/// Runs cargo in `folder` with the target folder `target`.
///
/// # Errors
///
/// Returns an error if cargo does not start or fails.
pub fn run_cargo(folder: &Path, target: &Path, arguments: &[&str]) -> Result<()> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(folder).env("CARGO_TARGET_DIR", target).args(arguments).arg("--quiet");
    if command.status()?.success() { Ok(()) } else { Err(format!("cargo {} failed", arguments.join(" ")).into()) }
}
