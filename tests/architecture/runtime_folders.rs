//! Tests that the folders of dispatch-runtime/src do not import each other in a circle.
//!
//! A file beside lib.rs counts as a folder. lib.rs may import everything. So may unit tests, also in files tests.rs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The maximum number of files in a folder, without its subfolders.
const MAX_FILES_PER_FOLDER: usize = 20;

/// The text of each file of a crate, by path.
type FileTexts = BTreeMap<String, String>;

/// A line in which one folder imports another.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Import {
    from: String,
    to: String,
    location: String,
}

#[test]
fn runtime_folders_have_no_import_cycle() {
    let mut files = FileTexts::new();
    let source = crate::workspace_root().join("dispatch-runtime/src");
    read_rust_files(&source, &source, &mut files);
    assert!(files.len() > 100, "{}", files.len());
    let imports = find_imports(&files).unwrap_or_else(|problems| panic!("{problems:#?}"));
    assert!(imports.len() > 100, "{}", imports.len());
    assert_eq!(find_cycle(&imports), None);
    for (folder, count) in file_counts_of_folders(&files) {
        assert!(count <= MAX_FILES_PER_FOLDER, "dispatch-runtime/src/{folder} has {count} files");
    }
}

fn read_rust_files(source: &Path, folder: &Path, files: &mut FileTexts) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_rust_files(source, &path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(source).unwrap().to_string_lossy().replace('\\', "/");
            files.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
}

/// Returns the number of files of each folder.
fn file_counts_of_folders(files: &FileTexts) -> BTreeMap<&str, usize> {
    let mut sizes = BTreeMap::new();
    for (folder, _) in files.keys().filter_map(|file| file.rsplit_once('/')) {
        *sizes.entry(folder).or_default() += 1;
    }
    sizes
}

/// Returns the top-level folder of a file.
fn top_folder_of(file: &str) -> &str {
    file.split_once('/').map_or_else(|| file.strip_suffix(".rs").unwrap(), |(folder, _)| folder)
}

/// Returns every import between folders. The errors are paths that name no folder.
fn find_imports(files: &FileTexts) -> Result<Vec<Import>, Vec<String>> {
    let folders: BTreeSet<&str> =
        files.keys().map(|file| top_folder_of(file)).filter(|folder| *folder != "lib").collect();
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    let is_code = |file: &str| file != "lib.rs" && !file.ends_with("/tests.rs");
    for (file, text) in files.iter().filter(|(file, _)| is_code(file)) {
        for (line, name) in names_after_crate_root(file, &code_tokens(text)) {
            let (from, location) = (top_folder_of(file).to_owned(), format!("{file}:{line}"));
            match name {
                Some(name) if folders.contains(name.as_str()) => {
                    if name != from {
                        found.push(Import { from, to: name, location });
                    }
                }
                Some(name) => {
                    problems.push(format!("{location}: `{name}` is not a folder; write the path through its folder"));
                }
                None => problems.push(format!("{location}: a path to the root; write the path through a folder")),
            }
        }
    }
    if problems.is_empty() { Ok(found) } else { Err(problems) }
}

/// Returns the name after `crate` in each path of a file, with its line. The name is `None` if a path ends at the root or is `crate::*`.
fn names_after_crate_root(file: &str, tokens: &[(usize, String)]) -> Vec<(usize, Option<String>)> {
    let word = |at: usize| tokens.get(at).map_or("", |(_, token)| token.as_str());
    let mut module: Vec<&str> = file.strip_suffix(".rs").unwrap().split('/').collect();
    if module.last() == Some(&"mod") {
        module.pop();
    }
    // The number of open braces, and the depths at which inner modules began.
    let (mut depth, mut inner) = (0, Vec::new());
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let is_start = !matches!(word(at.wrapping_sub(1)), "$" | "::");
        match word(at) {
            "mod" if word(at + 2) == "{" => inner.push(depth),
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                if inner.last() == Some(&depth) {
                    inner.pop();
                }
            }
            first @ ("crate" | "super" | "dispatch_runtime") if is_start && word(at + 1) == "::" => {
                // The number of modules from here up to the root.
                let up = if first == "super" { module.len() + inner.len() } else { 0 };
                at = follow_path(tokens, if first == "super" { at } else { at + 2 }, up, &mut found);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Follows a path that starts `up` modules below the root, or each path of a group, up to the first name after the root. Returns the index
/// of the token after it.
fn follow_path(
    tokens: &[(usize, String)],
    mut at: usize,
    mut up: usize,
    found: &mut Vec<(usize, Option<String>)>,
) -> usize {
    let word = |at: usize| tokens.get(at).map_or("", |(_, token)| token.as_str());
    while word(at) == "super" {
        (up, at) = (up.saturating_sub(1), at + if word(at + 1) == "::" { 2 } else { 1 });
    }
    if word(at) != "{" {
        if up == 0 {
            let is_name = word(at).starts_with(|c: char| c.is_alphabetic() || c == '_') && word(at) != "self";
            found.push((tokens[at].0, is_name.then(|| word(at).to_owned())));
        }
        return at + 1;
    }
    at += 1;
    while !matches!(word(at), "" | "}") {
        at = follow_path(tokens, at, up, found);
        // Skips the rest of this path.
        let mut depth = 0;
        while !(word(at).is_empty() || depth == 0 && matches!(word(at), "," | "}")) {
            match word(at) {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            at += 1;
        }
        at += usize::from(word(at) == ",");
    }
    at + 1
}

/// Returns the words and punctuation of code with their lines, without comments, literals and test items.
fn code_tokens(text: &str) -> Vec<(usize, String)> {
    let chars: Vec<char> = text.chars().collect();
    let (mut tokens, mut at, mut line) = (Vec::new(), 0, 1);
    while at < chars.len() {
        let end = token_end(&chars, at);
        let token: String = chars[at..end].iter().collect();
        let is_code = !(token.starts_with(char::is_whitespace)
            || token.starts_with("//")
            || token.starts_with("/*")
            || token.ends_with(['"', '\'', '#']) && token.len() > 1);
        if is_code {
            tokens.push((line, token.clone()));
        }
        line += token.matches('\n').count();
        at = end;
    }
    without_test_items(&tokens)
}

/// Returns the end of the token that begins at `at`: a word, `::`, punctuation, white space, a comment or a literal.
fn token_end(chars: &[char], at: usize) -> usize {
    let starts_with = |at: usize, text: &str| text.chars().enumerate().all(|(i, c)| chars.get(at + i) == Some(&c));
    let after = |from: usize, end: &str| {
        (from..chars.len()).find(|&i| starts_with(i, end)).map_or(chars.len(), |i| i + end.len())
    };
    let is_word = |c: &char| c.is_alphanumeric() || *c == '_';
    let run = |from: usize, is: &dyn Fn(&char) -> bool| from + chars[from..].iter().take_while(|c| is(c)).count();
    match chars[at] {
        c if c.is_whitespace() => run(at, &|c| c.is_whitespace()),
        '/' if starts_with(at, "//") => run(at, &|c| *c != '\n'),
        '/' if starts_with(at, "/*") => {
            let (mut depth, mut i) = (1, at + 2);
            while depth > 0 && i < chars.len() {
                match () {
                    () if starts_with(i, "/*") => (depth, i) = (depth + 1, i + 2),
                    () if starts_with(i, "*/") => (depth, i) = (depth - 1, i + 2),
                    () => i += 1,
                }
            }
            i
        }
        '"' => {
            let mut i = at + 1;
            while i < chars.len() && chars[i] != '"' {
                i += if chars[i] == '\\' { 2 } else { 1 };
            }
            (i + 1).min(chars.len())
        }
        // A character literal, or otherwise a lifetime.
        '\'' if chars.get(at + 1) == Some(&'\\') => after(at + 3, "'"),
        '\'' if chars.get(at + 2) == Some(&'\'') => at + 3,
        c if is_word(&c) => {
            let end = run(at, &is_word);
            let prefix: String = chars[at..end].iter().collect();
            let hashes = run(end, &|c| *c == '#') - end;
            match prefix.as_str() {
                "r" | "br" | "cr" if chars.get(end + hashes) == Some(&'"') => {
                    after(end + hashes + 1, &format!("\"{}", "#".repeat(hashes)))
                }
                "b" | "c" if matches!(chars.get(end), Some('"' | '\'')) => token_end(chars, end),
                _ => end,
            }
        }
        ':' if starts_with(at, "::") => at + 2,
        _ => at + 1,
    }
}

/// Removes from the tokens of a file each item with `#[cfg(test)]` or `#[cfg(all(test, ..))]`.
fn without_test_items(tokens: &[(usize, String)]) -> Vec<(usize, String)> {
    let word = |at: usize| tokens.get(at).map_or("", |(_, token)| token.as_str());
    let is_test = |at: usize| {
        let all = if word(at + 4) == "all" { 2 } else { 0 };
        (0..4).all(|i| word(at + i) == ["#", "[", "cfg", "("][i]) && word(at + 4 + all) == "test"
    };
    let (mut left, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        if !is_test(at) {
            left.push(tokens[at].clone());
            at += 1;
            continue;
        }
        let mut depth = 0;
        loop {
            match word(at) {
                "" => break,
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth -= 1,
                _ => {}
            }
            let is_end = depth == 0 && matches!(word(at), "}" | ";");
            at += 1;
            if is_end {
                break;
            }
        }
    }
    left
}

/// Returns the imports of a circle of folders, if there is one.
fn find_cycle(imports: &[Import]) -> Option<Vec<Import>> {
    /// Extends the path from its last folder, and visits no folder twice.
    fn extend_path(
        imports: &[Import],
        at: &str,
        path: &mut Vec<Import>,
        seen: &mut BTreeSet<String>,
    ) -> Option<Vec<Import>> {
        if let Some(start) = path.iter().position(|import| import.from == at) {
            return Some(path[start..].to_vec());
        }
        if !seen.insert(at.to_owned()) {
            return None;
        }
        for import in imports.iter().filter(|import| import.from == at) {
            path.push(import.clone());
            let found = extend_path(imports, &import.to, path, seen);
            if found.is_some() {
                return found;
            }
            path.pop();
        }
        None
    }
    let mut seen = BTreeSet::new();
    imports.iter().find_map(|import| extend_path(imports, &import.from, &mut Vec::new(), &mut seen))
}

fn sample_files(files: &[(&str, &str)]) -> FileTexts {
    files.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn cycle_is_found_in_every_path_notation() {
    let cycle_of = |files: &[(&str, &str)]| {
        let mut files = sample_files(files);
        files.insert("lib.rs".to_owned(), "use crate::anything;".to_owned());
        let cycle = find_cycle(&find_imports(&files).unwrap());
        cycle.map(|cycle| cycle.into_iter().map(|import| import.location).collect::<Vec<_>>())
    };
    let low = ("low/mod.rs", "mod part;\npub use part::Part;");
    let high = ("high.rs", "use crate::low::Part;");
    assert_eq!(cycle_of(&[low, ("low/part.rs", "pub struct Part;"), high]), None);
    for part in [
        "use crate::high::High;",
        "use super::super::high::High;",
        "use super::{super::high::High, Other};",
        "fn f() -> crate::high::High { loop {} }",
        "use std::fmt;use crate::{low::Other, high::{High, Higher}};",
        "mod inner { use super::super::super::high; }",
        "const C: char = '\"'; fn f<'a>(_: &'a str) { crate::high::f() } const D: char = '\"';",
        "const S: &str = r#\"\"\"#; pub(in crate::high) fn f() {}",
    ] {
        let part = ("low/part.rs", part);
        let found = cycle_of(&[low, part, high]);
        assert_eq!(found, Some(vec!["high.rs:1".to_owned(), "low/part.rs:1".to_owned()]), "{part:?}");
    }
}

#[test]
fn cycle_through_a_third_folder_is_found() {
    let files = sample_files(&[
        ("a/x.rs", "\n\nuse crate::b::y;"),
        ("a/mod.rs", ""),
        ("b.rs", "use crate::c;"),
        ("c/mod.rs", "fn f() { crate::a::g() }"),
        ("d.rs", "use crate::a;\nuse crate::b;\nuse crate::c;"),
    ]);
    let cycle = find_cycle(&find_imports(&files).unwrap()).unwrap();
    let locations: Vec<&str> = cycle.iter().map(|import| import.location.as_str()).collect();
    assert_eq!(locations, ["a/x.rs:3", "b.rs:1", "c/mod.rs:1"]);
}

#[test]
fn comments_literals_and_tests_are_no_imports() {
    let files = sample_files(&[
        ("high.rs", "use crate::low::Low;"),
        (
            "low/mod.rs",
            "//! use crate::high::High;\n/* crate::high /* crate::high */ crate::high */ pub struct Low; // crate::high\n\
             const TEXT: &str = \"\\\"crate::high\"; const RAW: &str = r#\"\"crate::high\"#; const BYTES: &[u8] = b\"crate::high\";\n\
             macro_rules! m { () => { $crate::high::High } }\n\
             pub(crate) fn f() { self::inner::g(); super::low::f() }\n\
             mod inner { pub(super) fn g() { super::f() } }\n\
             #[cfg(test)] use crate::high::High; #[cfg(test)] #[path = \"x.rs\"] mod tests { use crate::high; }\n\
             #[cfg(all(test, loom))] mod models { use crate::high; }",
        ),
        ("low/tests.rs", "use crate::high::High;"),
    ]);
    let imports = find_imports(&files).unwrap();
    assert_eq!(imports.iter().map(|import| import.location.as_str()).collect::<Vec<_>>(), ["high.rs:1"]);
}

#[test]
fn path_without_a_folder_is_an_error() {
    for (text, message) in [
        ("use crate::High;", "low/mod.rs:1: `High` is not a folder; write the path through its folder"),
        ("\nuse super::*;", "low/mod.rs:2: a path to the root; write the path through a folder"),
        ("use crate::{self, high};", "low/mod.rs:1: a path to the root; write the path through a folder"),
    ] {
        let files = sample_files(&[("low/mod.rs", text), ("high.rs", "")]);
        assert_eq!(find_imports(&files), Err(vec![message.to_owned()]));
    }
}
