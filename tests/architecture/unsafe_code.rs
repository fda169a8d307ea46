//! Tests that only the files listed in ARCHITECTURE.md have unsafe code.
//!
//! The workspace denies `unsafe_code`, in tests and examples too. A crate that is not in the list forbids it. In the other crates, exactly
//! the listed files have unsafe code.

use std::fs;
use std::path::{Path, PathBuf};

use crate::manifests::read_members;

/// The folders of a crate that have its code.
const TARGET_FOLDERS: [&str; 4] = ["src", "tests", "examples", "benches"];

/// The properties of a crate that this test checks.
struct CrateSources {
    name: String,
    has_lints: bool,
    /// Path and text of the files of all targets; paths in `src` are relative to it.
    files: Vec<(String, String)>,
}

impl CrateSources {
    fn read(folder: &Path, name: &str, has_lints: bool) -> Self {
        let mut paths = Vec::new();
        for targets in TARGET_FOLDERS {
            crate::collect_rust_files(&folder.join(targets), &mut paths);
        }
        let file = |path: PathBuf| {
            let own = path.strip_prefix(folder).unwrap().to_string_lossy().replace('\\', "/");
            (own.strip_prefix("src/").unwrap_or(&own).to_owned(), fs::read_to_string(&path).unwrap())
        };
        Self { name: name.to_owned(), has_lints, files: paths.into_iter().map(file).collect() }
    }

    /// Returns the differences between the crate and the modules that are listed for it.
    fn violations(&self, listed: Option<&[&str]>) -> Vec<String> {
        let mut found = Vec::new();
        let name = &self.name;
        if !self.has_lints {
            found.push(format!("{name} does not have the lints of the workspace, which deny unsafe code"));
        }
        let Some(listed) = listed else {
            for (file, text) in &self.files {
                let is_root = match file.rsplit_once('/') {
                    None => matches!(file.as_str(), "lib.rs" | "main.rs"),
                    Some((folder, name)) => folder == "bin" || name == "main.rs",
                };
                let is_in_src = !TARGET_FOLDERS.iter().any(|folder| *folder != "src" && file.starts_with(folder));
                if is_root && is_in_src && !text.contains("#![forbid(unsafe_code)]") {
                    found.push(format!("{name}: {file} does not forbid unsafe code"));
                }
                if allows_unsafe_code(text) {
                    found.push(format!("{name}: {file} allows unsafe code, and is not listed"));
                }
            }
            return found;
        };
        let covers = |module: &str, file: &str| {
            module == file || module.is_empty() || module.ends_with('/') && file.starts_with(module)
        };
        let unsafe_files: Vec<&str> =
            self.files.iter().filter(|(_, text)| has_unsafe_code(text)).map(|(file, _)| file.as_str()).collect();
        for file in &unsafe_files {
            if !listed.iter().any(|module| covers(module, file)) {
                found.push(format!("{name}: {file} has unsafe code, and is not listed"));
            }
        }
        for module in listed {
            if !unsafe_files.iter().any(|file| covers(module, file)) {
                found.push(format!("{name}: {module} is listed, and has no unsafe code"));
            }
        }
        found
    }
}

#[test]
fn exactly_the_listed_files_have_unsafe_code() {
    let root = crate::workspace_root();
    let manifest: toml::Table = fs::read_to_string(root.join("Cargo.toml")).unwrap().parse().unwrap();
    assert_eq!(manifest["workspace"]["lints"]["rust"]["unsafe_code"].as_str(), Some("deny"));
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let list = text.split_once("## `unsafe`").unwrap().1;
    let members = read_members(root);
    let mut found = Vec::new();
    for member in &members {
        let read = CrateSources::read(&root.join(&member.folder), &member.name, member.inherits_workspace_lints());
        found.extend(read.violations(listed_modules(list, &member.folder, &member.name).as_deref()));
    }
    assert!(found.is_empty(), "{found:#?}");
    for section in list.split("\n### ").skip(1) {
        let name = section.lines().next().unwrap();
        assert!(members.iter().any(|member| member.name == name), "ARCHITECTURE.md: there is no crate {name}");
    }
}

#[test]
fn violations_of_the_rule_are_found() {
    let sample_crate = |has_lints: bool, files: &[(&str, &str)]| CrateSources {
        name: "made-up".to_owned(),
        has_lints,
        files: files.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect(),
    };
    let (forbids, plain, block) = ("#![forbid(unsafe_code)]", "fn f() {}", "fn f() { unsafe { g() } }");
    let allows = ["#![allow(unsafe_code)]", "  #[expect(unsafe_code, reason = \"\")]"];

    assert_eq!(sample_crate(true, &[("lib.rs", forbids), ("a.rs", plain)]).violations(None), [""; 0]);
    let listed = [("lib.rs", plain), ("a.rs", block), ("b/c.rs", block)];
    assert_eq!(sample_crate(true, &listed).violations(Some(&["a.rs", "b/"])), [""; 0]);

    let assert_problems = |found: Vec<String>, expected: &[&str]| assert_eq!(found, expected);
    assert_problems(
        sample_crate(false, &[("lib.rs", forbids)]).violations(None),
        &["made-up does not have the lints of the workspace, which deny unsafe code"],
    );
    assert_problems(
        sample_crate(true, &[("lib.rs", plain)]).violations(None),
        &["made-up: lib.rs does not forbid unsafe code"],
    );
    assert_problems(
        sample_crate(true, &[("bin/x.rs", plain)]).violations(None),
        &["made-up: bin/x.rs does not forbid unsafe code"],
    );
    assert_problems(
        sample_crate(true, &[("program/main.rs", plain), ("program/a.rs", plain), ("bin/x/a.rs", plain)])
            .violations(None),
        &["made-up: program/main.rs does not forbid unsafe code"],
    );
    for allow in allows {
        let files = [("lib.rs", forbids), ("tests/a.rs", allow)];
        assert_problems(
            sample_crate(true, &files).violations(None),
            &["made-up: tests/a.rs allows unsafe code, and is not listed"],
        );
    }
    assert_problems(
        sample_crate(true, &listed).violations(Some(&["a.rs"])),
        &["made-up: b/c.rs has unsafe code, and is not listed"],
    );
    assert_problems(
        sample_crate(true, &listed).violations(Some(&["a.rs", "b/", "lib.rs"])),
        &["made-up: lib.rs is listed, and has no unsafe code"],
    );
}

/// Returns the modules in the first column of a crate's table. Modules of a crate in a subfolder are there too, as `part/src/module.rs`.
fn listed_modules<'a>(list: &'a str, folder: &str, name: &str) -> Option<Vec<&'a str>> {
    let listed = |name: &str| {
        let section = list.split_once(&format!("### {name}\n"))?.1.split("\n### ").next()?;
        let cells = section.lines().filter(|line| line.starts_with("| `")).filter_map(|line| line.split('|').nth(1));
        Some(cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)))
    };
    if let Some(listed) = listed(name) {
        return Some(listed.filter(|module| !module.contains("/src/")).collect());
    }
    let (parent, part) = folder.split_once('/')?;
    let start = format!("{part}/src/");
    let own: Vec<&str> = listed(parent)?.filter_map(|module| module.strip_prefix(&start)).collect();
    (!own.is_empty()).then_some(own)
}

/// Whether code outside of comments has an unsafe block, item or attribute.
fn has_unsafe_code(text: &str) -> bool {
    let opens = ["unsafe {", "unsafe fn", "unsafe impl", "unsafe trait", "unsafe extern", "#[unsafe("];
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .any(|line| opens.iter().any(|open| line.contains(open)))
}

/// Whether an attribute allows or expects `unsafe_code`.
fn allows_unsafe_code(text: &str) -> bool {
    let levels = ["allow", "expect", "warn"];
    let attributes = text.lines().map(str::trim_start).filter_map(|line| line.strip_prefix('#'));
    attributes.map(|line| line.trim_start_matches(['!', '[']).trim_start()).any(|line| {
        let rest = levels.iter().find_map(|level| line.strip_prefix(level)?.strip_prefix('('));
        rest.is_some_and(|rest| rest.contains("unsafe_code"))
    })
}
