//! Tests that the code agrees with ARCHITECTURE.md and README.md.

mod dependencies;
mod doc_examples;
mod facade_names;
mod guide;
mod manifests;
mod runtime_folders;
mod unsafe_code;

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the root folder of the workspace.
fn workspace_root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Adds the Rust files in a folder and its subfolders to `files`, except those of nested crates.
fn collect_rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    if folder.join("Cargo.toml").exists() {
        return;
    }
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn kernel_locations_in_the_readme_are_right() {
    let root = workspace_root();
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let mut count = 0;
    for (before, location) in readme.lines().filter_map(|line| line.strip_suffix(')')?.split_once("` (")) {
        let (Some((_, kernel)), Some((file, line))) = (before.rsplit_once('`'), location.split_once(':')) else {
            continue;
        };
        let text = fs::read_to_string(root.join(file)).unwrap();
        let from = line.parse::<usize>().unwrap() - 1;
        // The location is an attribute with the kernel's name on the next line, or a macro call with a row that begins with this name.
        let mut item = text.lines().skip(from).take_while(|line| *line != "}");
        let is_table = text.lines().nth(from).is_some_and(|line| line.ends_with("! {"));
        let row = format!("    {kernel}");
        let found = if is_table {
            item.any(|line| line.starts_with(&row))
        } else {
            item.take(2).any(|line| line.contains(&format!("fn {kernel}(")) || line.contains(&format!("!({kernel}:")))
        };
        assert!(found, "README.md: `{kernel}` is not at {location}");
        count += 1;
    }
    assert!(count > 5, "{count}");
}

/// The modes are examples for authors of modes, so they stay short.
#[test]
fn modes_have_fewer_than_a_hundred_lines() {
    let folder = workspace_root().join("layers/modes/src");
    for mode in ["print.rs", "flops.rs", "memory.rs", "profiler.rs"] {
        let lines = fs::read_to_string(folder.join(mode)).unwrap().lines().count();
        assert!(lines < 100, "{mode} has {lines} lines");
    }
}
