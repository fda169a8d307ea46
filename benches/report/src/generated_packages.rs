//! Generates programs with thousands of operators.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use measure::Result;

use crate::benches_folder;

/// Writes a package in `folder`, with the same versions of dependencies as this workspace.
pub(crate) fn write_package(folder: &Path, name: &str, source: &str) -> Result<PathBuf> {
    let folder = folder.join(name);
    fs::create_dir_all(folder.join("src"))?;
    let runtime = benches_folder().join("../dispatch-runtime");
    let manifest = format!(
        "[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [features]\noperators = []\n\n\
         [dependencies]\ndispatch-runtime = {{ path = {runtime:?} }}\n\n\
         [workspace]\n\n\
         # The measured code is in the runtime. The operators are never called.\n\
         [profile.release]\nopt-level = 1\n\n[profile.release.package.\"*\"]\nopt-level = 3\n"
    );
    write_file_if_changed(&folder.join("Cargo.toml"), &manifest)?;
    write_file_if_changed(&folder.join("src/main.rs"), source)?;
    if !folder.join("Cargo.lock").exists() {
        fs::copy(benches_folder().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    }
    Ok(folder)
}

/// Writes a file only if its text has changed, so that cargo does not build it again.
fn write_file_if_changed(path: &Path, text: &str) -> Result<()> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) { Ok(()) } else { Ok(fs::write(path, text)?) }
}

/// Returns code of `count` operators, each with a kernel for every key.
pub(crate) fn operator_code(count: usize, keys: &[&str]) -> String {
    let mut source = String::new();
    for i in 0..count {
        let _ = writeln!(
            source,
            "#[op_def(\"op{i}(Tensor self, Tensor other) -> Tensor\")]\n\
             pub fn op{i}(this: &Tensor, other: &Tensor) -> Result<Tensor>;"
        );
        for key in keys {
            let backend = key.to_lowercase();
            let _ = writeln!(
                source,
                "#[op_impl(op{i}, {key})]\n\
                 fn op{i}_{backend}(this: &Tensor, _: &Tensor) -> Result<Tensor> {{ Ok(this.clone()) }}"
            );
        }
    }
    source
}

/// Returns code of `count` functions like those of `operator_code`, without attributes.
pub(crate) fn function_code(count: usize) -> String {
    let mut source = String::new();
    for i in 0..count {
        let _ = writeln!(source, "pub fn f{i}(this: &Tensor, _: &Tensor) -> Result<Tensor> {{ Ok(this.clone()) }}");
    }
    source
}
