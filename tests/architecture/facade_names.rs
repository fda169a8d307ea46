//! Tests that the facade's root has few names, each on purpose.

use std::collections::BTreeSet;
use std::fs;

use crate::workspace_root;

/// The names at the facade's root, without macros. A name belongs there if most applications need it, and if no module is its home.
const ROOT_NAMES: [&[&str]; 3] = [
    &["DType", "Device", "Error", "Result", "Scalar", "Tensor"],
    // Settings of the program.
    &["manual_seed", "num_threads", "set_num_threads"],
    // Modules.
    &[
        "aten", "autocast", "autograd", "backend", "checks", "cuda", "files", "jacobian", "modes", "nn", "optim",
        "prelude", "pt2", "runtime", "trace", "vmap",
    ],
];

/// The largest number of names at the root. A reader of the root's documentation sees all of them at once.
const MAX_ROOT_NAMES: usize = 25;

#[test]
fn the_facade_has_the_listed_names_at_its_root() {
    let expected: BTreeSet<String> = ROOT_NAMES.concat().into_iter().map(str::to_owned).collect();
    assert!(expected.len() <= MAX_ROOT_NAMES, "{} names", expected.len());
    let text = fs::read_to_string(workspace_root().join("src/lib.rs")).unwrap();
    assert_eq!(exported_names(&text), expected);
}

#[test]
fn exported_names_are_found_in_every_notation() {
    let text = "
        //! pub use no::code;
        mod private;
        pub mod backend;
        use hidden::{Nothing};
        pub use one::{self as first, two::{Three, Four as four}, five::six};
        pub use seven;
        #[cfg(feature = \"eight\")]
        pub use eight::{self, nine};
        pub mod prelude { pub use inner::Inner; }
        #[doc(hidden)]
        pub mod __private { pub use all::*; }
        pub fn ten() { pub struct Local; }
        pub struct Eleven;
    ";
    let expected = ["Eleven", "Three", "backend", "eight", "first", "four", "nine", "prelude", "seven", "six", "ten"];
    assert_eq!(exported_names(text), expected.map(str::to_owned).into());
}

/// Returns the names that the root of a crate exports, except for hidden ones, which begin with `__`. `*` stands for all names of a module.
fn exported_names(text: &str) -> BTreeSet<String> {
    let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let mut names = BTreeSet::new();
    let mut rest = code.as_str();
    while let Some((before, item)) = rest.split_once("pub ") {
        let is_at_root = before.matches('{').count() == before.matches('}').count();
        rest = item;
        if !is_at_root {
            continue;
        }
        let (kind, declared) = item.split_once(' ').unwrap_or((item, ""));
        let end = if kind == "use" { declared.find(';') } else { declared.find(|c: char| !is_name_char(c)) };
        let declared = &declared[..end.unwrap_or(declared.len())];
        if kind == "use" {
            add_imported_names(declared, "", &mut names);
        } else {
            names.insert(declared.to_owned());
        }
        // The braces of an item with a body are counted from its start.
        if let (Some(open), true) = (item.find('{'), kind != "use")
            && !item[..open].contains(';')
        {
            rest = after_closing_brace(&item[open..]);
        } else if kind == "use" {
            rest = item.split_once(';').map_or("", |(_, after)| after);
        }
    }
    names.retain(|name| !name.starts_with("__"));
    names
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the text after the brace that closes the one at the start.
fn after_closing_brace(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[at + 1..];
        }
    }
    ""
}

/// Adds the names that an import brings into scope. `parent` is the last segment of the path before it.
fn add_imported_names(import: &str, parent: &str, names: &mut BTreeSet<String>) {
    let import = import.trim();
    if let Some((path, list)) = import.split_once('{') {
        let path = path.trim().trim_end_matches("::");
        let parent = path.rsplit("::").next().unwrap_or(path);
        let list = list.strip_suffix('}').unwrap_or(list);
        split_at_commas(list).for_each(|part| add_imported_names(part, parent, names));
        return;
    }
    let (path, renamed) = import.split_once(" as ").map_or((import, None), |(path, name)| (path, Some(name.trim())));
    let last = path.rsplit("::").next().unwrap_or(path).trim();
    let own = if last == "self" { parent } else { last };
    if let Some(name) = Some(renamed.unwrap_or(own)).filter(|name| !name.is_empty()) {
        names.insert(name.to_owned());
    }
}

/// Splits a list at the commas that are not inside of braces.
fn split_at_commas(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    list.split(move |c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    })
}
