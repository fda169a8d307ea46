//! Programs that PyTorch exported, compared with what PyTorch computes, by the program's own command `check`.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the recordings: `DISPATCH_GOLDEN/pt2`, or else the copies of small ones in this repository.
fn golden_folder() -> PathBuf {
    match env::var_os("DISPATCH_GOLDEN") {
        Some(folder) => Path::new(&folder).join("pt2"),
        None => PathBuf::from("tests/golden"),
    }
}

#[test]
fn golden_programs_agree_with_pytorch() {
    let folder = golden_folder();
    if env::var_os("DISPATCH_GOLDEN").is_some() && !folder.exists() {
        println!("SKIPPED: `{}` does not exist", folder.display());
        return;
    }
    let output = Command::new(env!("CARGO_BIN_EXE_pt2")).arg("check").arg(&folder).output().unwrap();
    let (table, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{table}{errors}");
    let last = table.lines().last().unwrap();
    let passed = last.strip_suffix(" passed, 0 failed").and_then(|passed| passed.parse::<usize>().ok());
    assert!(passed.is_some_and(|passed| passed > 0), "{table}");
}
