//! Checks that `methods.rs` and `family_functions.rs` match the registry. `UPDATE=1 cargo test -p aten --test generated` rewrites them.

mod methods;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use dispatch_runtime::Operator;
// Links the operators to list.
use aten as _;

#[test]
fn the_methods_are_those_of_the_registry() {
    check("methods.rs", &methods::methods());
}

#[test]
fn the_names_of_families_are_those_of_the_registry() {
    check("family_functions.rs", &names());
}

/// Compares a file with its generated text, or rewrites it if `UPDATE` is set.
fn check(name: &str, made: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, made).unwrap();
        return;
    }
    let found = std::fs::read_to_string(&file).unwrap();
    let stale = made.lines().zip(found.lines()).find(|(made, found)| made != found);
    assert!(made == found, "{name} is stale: run with UPDATE=1; it begins to differ at {stale:?}");
}

/// Returns the operators by the names of their Rust functions.
fn functions() -> BTreeMap<String, &'static Operator> {
    let operators = Operator::all();
    let aten: Vec<&Operator> = operators.into_iter().filter(|operator| operator.name().namespace == "aten").collect();
    let bare =
        |base: &str| aten.iter().any(|operator| operator.name().base == base && operator.name().overload.is_empty());
    let mut functions = BTreeMap::new();
    for operator in &aten {
        let name = operator.name();
        let function = match name.overload {
            "" => name.base.to_owned(),
            // A form has the name of its functional operator.
            "Tensor" if !bare(operator.functional().map_or(name, Operator::name).base) => name.base.to_owned(),
            overload => format!("{}_{}", name.base, overload.to_lowercase()),
        };
        assert!(functions.insert(function, *operator).is_none(), "two operators have the same name as {name}");
    }
    functions
}

/// Returns the Cargo feature that enables an operator: its family, if the family is optional.
fn feature(operator: &Operator) -> Option<&'static str> {
    let file = operator.location().file();
    let family = file.split("families/").nth(1)?.split(['/', '.']).next()?;
    let features = include_str!("../../Cargo.toml").lines().find(|line| line.starts_with("default = "))?;
    features.contains(&format!("\"{family}\"")).then_some(family)
}

/// Generates the text of `family_functions.rs`.
fn names() -> String {
    let mut families: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (function, operator) in functions() {
        if let Some(feature) = feature(operator) {
            families.entry(feature).or_default().push(function);
        }
    }
    let mut text = "//! The operators of the families that can be left out. Made from the registry by the test `generated`; not for \
        editing.\n\n/// Hands each family to a macro.\nmacro_rules! of_families {\n    ($family:ident) => {\n"
        .to_owned();
    for (family, functions) in families {
        _ = write!(text, "        $family! {{ \"{family}\" {family}:");
        let mut width = usize::MAX / 2;
        for function in functions {
            width += function.len() + 1;
            if width > 120 {
                text.push_str("\n           ");
                width = 12 + function.len();
            }
            _ = write!(text, " {function}");
        }
        text.push_str("\n        }\n");
    }
    text + "    };\n}\n\npub(crate) use of_families;\n"
}
