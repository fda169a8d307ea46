//! What ARCHITECTURE.md says of the code holds: this looks.

use std::fs;
use std::path::{Path, PathBuf};

const CRATES: [&str; 14] = [
    "dispatch-schema",
    "dispatch-macros",
    "dispatch-runtime",
    "aten",
    "kernels-cpu",
    "kernels-cuda",
    "layers/autograd",
    "layers/autocast",
    "layers/modes",
    "layers/trace",
    "layers/transform",
    "layers/vmap",
    "conformance",
    "dispatch-inspect",
];

#[test]
fn every_module_with_unsafe_code_is_listed_and_no_other() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let list = text.split_once("## `unsafe`").unwrap().1;
    for name in CRATES {
        let listed = names(list, name);
        let source = root.join(name).join("src");
        let mut files = Vec::new();
        collect(&source, &mut files);
        let found: Vec<String> = files
            .iter()
            .filter(|file| has_unsafe(&fs::read_to_string(file).unwrap()))
            .map(|file| file.strip_prefix(&source).unwrap().to_string_lossy().replace('\\', "/"))
            .collect();
        let covers = |module: &str, file: &str| module == file || module.ends_with('/') && file.starts_with(module);
        for file in &found {
            assert!(listed.iter().any(|module| covers(module, file)), "{name}/src/{file} has unsafe code: list it");
        }
        for module in &listed {
            assert!(found.iter().any(|file| covers(module, file)), "{name}/src/{module} has no unsafe code any more");
        }
    }
}

#[test]
fn kernels_that_the_readme_names_are_where_it_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let mut count = 0;
    for (before, place) in readme.lines().filter_map(|line| line.strip_suffix(')')?.split_once("` (")) {
        let (Some((_, kernel)), Some((file, line))) = (before.rsplit_once('`'), place.split_once(':')) else {
            continue;
        };
        let text = fs::read_to_string(root.join(file)).unwrap();
        let from = line.parse::<usize>().unwrap() - 1;
        // An attribute, and the name on the line after it.
        let found = text.lines().skip(from).take(2).any(|line| line.contains(kernel));
        assert!(found, "README.md: `{kernel}` is not at {place}");
        count += 1;
    }
    assert!(count > 5, "{count}");
}

/// What somebody reads who wants to write one more.
#[test]
fn a_mode_is_less_than_a_hundred_lines() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("layers/modes/src");
    for mode in ["print.rs", "flops.rs", "memory.rs", "profiler.rs"] {
        let lines = fs::read_to_string(folder.join(mode)).unwrap().lines().count();
        assert!(lines < 100, "{mode} has {lines} lines");
    }
}

/// The modules in the first column of a crate's table.
fn names<'a>(list: &'a str, name: &str) -> Vec<&'a str> {
    let Some((_, section)) = list.split_once(&format!("### {name}\n")) else { return Vec::new() };
    let section = section.split("\n### ").next().unwrap_or_default();
    let cells = section.lines().filter(|line| line.starts_with("| `")).filter_map(|line| line.split('|').nth(1));
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Whether there is the word in code, outside of comments and quoted templates.
fn has_unsafe(text: &str) -> bool {
    let opens = ["unsafe {", "unsafe fn", "unsafe impl", "unsafe trait"];
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .any(|line| opens.iter().any(|open| line.contains(open)))
}
