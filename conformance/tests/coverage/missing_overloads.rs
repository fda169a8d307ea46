//! PyTorch's overloads that are missing, with the reason for each.
//!
//! `golden/overloads.txt.gz` has the names of all overloads, and `golden/missing_overloads.txt` the reasons. With `UPDATE=1`, an operator
//! that exists by now loses its reason, and a missing one without a reason gets [`NO_REASON`], which the test refuses.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};

use dispatch_runtime::Operator;
use flate2::read::GzDecoder;

/// The placeholder for a reason that a person has to give.
const NO_REASON: &str = "no reason";

/// The maximum length of a line of names.
const LINE_LENGTH: usize = 140;

/// The reasons in the order of the file, each with the names of operators without overloads.
type Reasons = Vec<(String, Vec<String>)>;

/// Returns the table of the missing overloads, by reason.
pub(super) fn format_table() -> String {
    let (missing, reasons) = (missing_overloads(), read_reasons());
    let mut text = format!(
        "\n## Missing overloads\n\nThe overloads of PyTorch that run on its CPU and are missing here, with the reason.\n\n| reason | overload ({}) |\n|---|---|\n",
        missing.values().map(Vec::len).sum::<usize>()
    );
    for (reason, names) in &reasons {
        for overload in names.iter().filter_map(|name| missing.get(name)).flatten() {
            _ = writeln!(text, "| {reason} | `{overload}` |");
        }
    }
    text
}

/// Updates the file of reasons to the operators that exist.
pub(super) fn update_reasons() {
    let (mut missing, mut reasons) = (missing_overloads(), read_reasons());
    reasons.retain(|(reason, _)| reason != NO_REASON);
    for (_, names) in &mut reasons {
        names.retain(|name| missing.remove(name).is_some());
    }
    reasons.retain(|(_, names)| !names.is_empty());
    if !missing.is_empty() {
        reasons.push((NO_REASON.to_owned(), missing.into_keys().collect()));
    }
    std::fs::write(reasons_path(), format_reasons(&reasons)).unwrap();
}

#[test]
fn every_missing_overload_has_one_reason() {
    if std::env::var_os("UPDATE").is_some() {
        return;
    }
    let (mut missing, mut wrong) = (missing_overloads(), Vec::new());
    for (reason, names) in read_reasons() {
        for name in names {
            match missing.remove(&name) {
                None => wrong.push(format!("{name}: exists, or has two reasons")),
                Some(_) if reason == NO_REASON => wrong.push(format!("{name}: give a reason")),
                Some(_) => {}
            }
        }
    }
    wrong.extend(missing.into_keys().map(|name| format!("{name}: has no reason")));
    assert!(wrong.is_empty(), "run with UPDATE=1, then edit golden/missing_overloads.txt: {wrong:#?}");
}

/// Returns the missing overloads of each operator.
fn missing_overloads() -> BTreeMap<String, Vec<String>> {
    let mut names = String::new();
    GzDecoder::new(&include_bytes!("../../golden/overloads.txt.gz")[..]).read_to_string(&mut names).unwrap();
    let mut missing = BTreeMap::<String, Vec<String>>::new();
    let existing: HashSet<String> = Operator::all().into_iter().map(|operator| operator.name().to_string()).collect();
    for overload in names.lines().filter(|overload| !existing.contains(&format!("aten::{overload}"))) {
        let base = overload.split_once('.').map_or(overload, |(base, _)| base);
        missing.entry(base.to_owned()).or_default().push(overload.to_owned());
    }
    missing
}

fn reasons_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/missing_overloads.txt")
}

/// Reads the file of reasons. A line that ends with a colon is a reason, and the next lines have the names of operators.
fn read_reasons() -> Reasons {
    let mut reasons = Reasons::new();
    for line in std::fs::read_to_string(reasons_path()).unwrap().lines() {
        match (line.strip_suffix(':'), reasons.last_mut()) {
            (Some(reason), _) => reasons.push((reason.to_owned(), Vec::new())),
            (None, Some((_, names))) => names.extend(line.split_whitespace().map(str::to_owned)),
            (None, None) => assert!(line.is_empty(), "the file begins with a reason, not with {line:?}"),
        }
    }
    reasons
}

fn format_reasons(reasons: &Reasons) -> String {
    let mut text = String::new();
    for (reason, names) in reasons {
        _ = writeln!(text, "{reason}:");
        let mut line = String::from(" ");
        for name in names {
            if line.len() + 1 + name.len() > LINE_LENGTH {
                _ = writeln!(text, "{line}");
                line = String::from(" ");
            }
            _ = write!(line, " {name}");
        }
        _ = writeln!(text, "{line}\n");
    }
    text
}
