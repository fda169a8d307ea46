//! Test that `docs/coverage.md` is up to date. `UPDATE=1 cargo test -p conformance --test coverage` writes it.

use std::fmt::Write;
use std::path::Path;

use dispatch_autograd::__private::Derivative;
use dispatch_runtime::keys::Meta;
use dispatch_runtime::keys::{AutocastCPU, AutogradCPU, CPU, CompositeExplicitAutograd, CompositeImplicitAutograd};
use dispatch_runtime::schema::SchemaKind;
use dispatch_runtime::{Key, Operator, Provenance, TableCell};
use dispatch_vmap::Strategy;
// Links the backend and the layer of the table.
use {dispatch_autocast as _, kernels_cpu as _};

const KEYS: [Key; 4] = [CPU, Meta, AutogradCPU, AutocastCPU];
const COLUMNS: [&str; 5] = ["CPU", "Meta", "Autograd", "Autocast", "vmap"];

const HEADER: &str = "\
# Coverage

Every operator of `aten`, and what runs for it. Made by `UPDATE=1 cargo test -p conformance --test coverage`.

| word | meaning |
|---|---|
| kernel | a kernel of this backend or layer |
| shape | the operator's shape word |
| plan | the operator's plan |
| form | the functional operator, and a copy into the written tensor |
| any | one kernel for all backends |
| composite | other operators, each of which has its own row |
| data | refused, because the sizes of the result depend on elements |
| formula | a derivative, for a form that writes that of the functional operator |
| none | declared as not differentiable |
| rule, view | a rule for batches, of its own or that of all views |
| random | as the randomness mode says |
| loop | a call for each slice of a batch, and a warning |
| - | nothing yet |

";

#[test]
fn coverage_md_is_up_to_date() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/coverage.md");
    let made = table();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, made).unwrap();
        return;
    }
    let found = std::fs::read_to_string(&file).unwrap();
    let stale = made.lines().zip(found.lines()).find(|(made, found)| made != found);
    assert!(made == found, "coverage.md is stale: run with UPDATE=1; it begins to differ at {stale:?}");
}

fn table() -> String {
    let operators = Operator::all().into_iter().filter(|operator| operator.name().namespace == "aten");
    let rows: Vec<(String, [&str; 5])> = operators.map(|operator| (name(operator), cells(operator))).collect();
    let mut text = HEADER.to_owned();
    let covered = |column: usize| rows.iter().filter(|(_, cells)| !matches!(cells[column], "-" | "loop")).count();
    let header: Vec<String> = COLUMNS.iter().enumerate().map(|(i, name)| format!("{name} ({})", covered(i))).collect();
    _ = writeln!(text, "| operator ({}) | {} |\n|---|---|---|---|---|---|", rows.len(), header.join(" | "));
    for (name, cells) in rows {
        _ = writeln!(text, "| `{name}` | {} |", cells.join(" | "));
    }
    text
}

fn name(operator: &Operator) -> String {
    operator.name().to_string().trim_start_matches("aten::").to_owned()
}

fn cells(operator: &'static Operator) -> [&'static str; 5] {
    let table = operator.table();
    let [cpu, meta, autograd, autocast] = KEYS.map(|key| {
        if key == AutogradCPU {
            return derivative(operator, &table);
        }
        let Some(cell) = table.iter().find(|cell| cell.key == key) else { return "-" };
        if cell.provenance == Provenance::Missing || cell.falls_through {
            return "-";
        }
        let is = |kernel: &str| cell.kernels.iter().all(|text| text.starts_with(&format!("`{kernel}`")));
        match cell.registered_for {
            Some(registered) if registered == CompositeImplicitAutograd && [CPU, Meta].contains(&key) => "composite",
            // A composite has no kernel of the layer.
            Some(registered) if registered == CompositeImplicitAutograd => "-",
            Some(registered) if registered == CompositeExplicitAutograd => {
                if is("form") {
                    "form"
                } else {
                    "any"
                }
            }
            Some(registered) if registered == Meta && is("meta") => meta(operator),
            Some(registered) if registered == Meta && is("meta_planned") => {
                if operator.shape().is_some() {
                    "shape"
                } else {
                    "plan"
                }
            }
            Some(_) => "kernel",
            None => "fallback",
        }
    });
    [cpu, meta, autograd, autocast, vmap_strategy(operator)]
}

/// Returns the strategy of `vmap` for an operator.
fn vmap_strategy(operator: &'static Operator) -> &'static str {
    match Strategy::of(operator) {
        Strategy::Parts => "composite",
        Strategy::Random => "random",
        Strategy::Rule => "rule",
        Strategy::View => "view",
        Strategy::Shape => "shape",
        Strategy::Form => match operator.functional().map(vmap_strategy) {
            Some("loop") => "loop",
            _ => "form",
        },
        Strategy::Refused => "data",
        _ => "loop",
    }
}

/// Returns the kind of the operator's derivative.
fn derivative(operator: &'static Operator, table: &[TableCell]) -> &'static str {
    if operator.schema().kind() == SchemaKind::Out {
        // `out=` forms refuse tensors that require gradients.
        return "none";
    }
    let of_form = operator.functional().and_then(Operator::rule::<Derivative>);
    match operator.rule::<Derivative>().or(of_form) {
        Some(rule) if rule.run.is_some() => "formula",
        Some(_) => "none",
        None => {
            let cell = table.iter().find(|cell| cell.key == AutogradCPU);
            let is_composite = cell.is_some_and(|cell| cell.registered_for == Some(CompositeImplicitAutograd));
            if is_composite { "composite" } else { "-" }
        }
    }
}

/// Returns the kind of the Meta kernel that the operator's definition provides.
fn meta(operator: &'static Operator) -> &'static str {
    let functional = operator.functional().unwrap_or(operator);
    match functional.shape() {
        Some(_) => "shape",
        None if functional.is_data_dependent() => "data",
        None if functional == operator => "-",
        None => match cells(functional)[1] {
            "-" => "-",
            _ => "form",
        },
    }
}
