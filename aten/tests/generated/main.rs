//! Checks that `family_functions.rs` and docs/from-pytorch.md match their sources. `UPDATE=1 cargo test -p aten --test generated` rewrites
//! them.

mod curated;
mod from_pytorch;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use dispatch_runtime::Operator;
// Links the operators to list.
use aten as _;

#[test]
fn family_functions_file_matches_the_registry() {
    check_or_update("src/family_functions.rs", &family_functions_text());
}

/// Compares a file with its generated text, or rewrites it if `UPDATE` is set.
fn check_or_update(name: &str, generated: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, generated).unwrap();
        return;
    }
    let found = std::fs::read_to_string(&file).unwrap();
    let stale = generated.lines().zip(found.lines()).find(|(generated, found)| generated != found);
    assert!(generated == found, "{name} is stale: run with UPDATE=1; it begins to differ at {stale:?}");
}

/// Returns the operators by the names of their Rust functions.
fn operators_by_function() -> BTreeMap<String, &'static Operator> {
    let operators = Operator::all();
    let aten: Vec<&Operator> = operators.into_iter().filter(|operator| operator.name().namespace == "aten").collect();
    let has_operator_without_overload =
        |base: &str| aten.iter().any(|operator| operator.name().base == base && operator.name().overload.is_empty());
    let mut functions = BTreeMap::new();
    for operator in &aten {
        let name = operator.name();
        let function = match name.overload {
            "" => name.base.to_owned(),
            // A form has the name of its functional operator.
            "Tensor" if !has_operator_without_overload(operator.functional().map_or(name, Operator::name).base) => {
                name.base.to_owned()
            }
            overload => format!("{}_{}", name.base, overload.to_lowercase()),
        };
        assert!(functions.insert(function, *operator).is_none(), "two operators have the same name as {name}");
    }
    functions
}

/// Returns the Cargo feature that enables an operator: its family, if the family is optional.
fn cargo_feature_of(operator: &Operator) -> Option<&'static str> {
    let file = operator.location().file();
    let family = file.split("families/").nth(1)?.split(['/', '.']).next()?;
    let features = include_str!("../../Cargo.toml").lines().find(|line| line.starts_with("default = "))?;
    features.contains(&format!("\"{family}\"")).then_some(family)
}

/// Generates the text of `family_functions.rs`.
fn family_functions_text() -> String {
    let mut families: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (function, operator) in operators_by_function() {
        if let Some(feature) = cargo_feature_of(operator) {
            families.entry(feature).or_default().push(function);
        }
    }
    let mut text = "//! The operators of the optional families. Generated from the registry by the test `generated`; do not \
        edit.\n\n/// Calls a macro for each optional family.\nmacro_rules! for_each_family {\n    ($family:ident) => {\n"
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
    text + "    };\n}\n\npub(crate) use for_each_family;\n"
}
