//! Builds the programs that are measured.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;

/// Where this program was built, and builds what it measures.
///
/// # Errors
///
/// Where this program is not where cargo puts programs.
pub fn target() -> Result<PathBuf> {
    let program = env::current_exe()?;
    Ok(program.ancestors().nth(2).ok_or("this program is not in a target folder")?.to_owned())
}

/// Runs cargo in a folder, to build into another.
///
/// # Errors
///
/// Where it does not start or does not succeed.
pub fn cargo(folder: &Path, target: &Path, arguments: &[&str]) -> Result<()> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(folder).env("CARGO_TARGET_DIR", target).args(arguments).arg("--quiet");
    if command.status()?.success() { Ok(()) } else { Err(format!("cargo {} failed", arguments.join(" ")).into()) }
}
