//! Tests of the backends' sources: kernels name only operators and types of plans, and every elementwise operator has a kernel on each
//! backend.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use dispatch_runtime::keys::{CPU, CUDA};
use dispatch_runtime::{Key, Operator, Provenance, ShapeWord};

fn read_rust_files(folder: &str) -> Vec<(PathBuf, String)> {
    fn collect_files(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect_files(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    let mut found = Vec::new();
    collect_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder), &mut found);
    assert!(found.len() > 20, "{folder} has {} files", found.len());
    found
}

fn leading_identifier(text: &str) -> &str {
    &text[..text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len())]
}

/// Returns every name after `aten::` in the code of a file, without its tests.
fn aten_names_in_code(text: &str) -> BTreeSet<String> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = lines.join("\n");
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices("aten::") {
        let is_whole = !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
        let rest = &code[at + "aten::".len()..];
        let list = rest.strip_prefix('{').map(|list| &list[..list.find('}').unwrap_or(list.len())]);
        let each: Vec<&str> = list.map_or_else(|| vec![rest], |list| list.split(',').collect());
        let each = each.iter().map(|name| leading_identifier(name.trim()).to_owned());
        names.extend(each.filter(|name| is_whole && !name.is_empty()));
    }
    names
}

/// Returns the names of the types that plans pass to kernels, and of the types of their public fields.
fn plan_type_names() -> BTreeSet<String> {
    let files = read_rust_files("aten/src");
    let mut types = BTreeSet::new();
    for (_, text) in &files {
        for (at, _) in text.match_indices("Plan").chain(text.match_indices("PlanList")) {
            let inside = text[at..].trim_start_matches("PlanList").trim_start_matches("Plan");
            if let Some(value) = inside.strip_prefix('<') {
                let value = &value[..value.find(['>', ',']).unwrap_or(value.len())];
                types
                    .insert(leading_identifier(value.trim_start_matches("Option<").trim_start_matches('(')).to_owned());
            }
        }
    }
    let mut fields = BTreeSet::new();
    for (_, text) in &files {
        for declaration in
            text.split("pub struct ").skip(1).filter(|declaration| types.contains(leading_identifier(declaration)))
        {
            let body =
                declaration.split_once('{').and_then(|(_, body)| body.split_once("\n}")).map_or("", |(body, _)| body);
            let public = body.lines().filter_map(|line| line.trim().strip_prefix("pub ")?.split_once(": "));
            fields.extend(public.map(|(_, ty)| leading_identifier(ty.trim_start_matches(['[', '('])).to_owned()));
        }
    }
    types.extend(fields);
    types
}

/// Returns the names of the error types.
fn error_type_names() -> BTreeSet<String> {
    let files = read_rust_files("aten/src");
    let names = files.iter().flat_map(|(_, text)| text.split("impl std::error::Error for ").skip(1));
    names.map(|name| leading_identifier(name).to_owned()).collect()
}

#[test]
fn kernels_use_only_operators_plan_types_and_errors_of_aten() {
    let (operators, plans, errors) = (Operator::all(), plan_type_names(), error_type_names());
    let is_operator = |name: &str| {
        operators.iter().any(|operator| operator.schema().name.rust_name() == name || operator.name().base == name)
    };
    let mut unknown = BTreeSet::new();
    for folder in ["kernels-cpu", "kernels-cuda/src"] {
        let is_test = |path: &PathBuf| path.iter().any(|part| part == "tests" || part == "tests.rs");
        for (path, text) in read_rust_files(folder).into_iter().filter(|(path, _)| !is_test(path)) {
            for name in aten_names_in_code(&text) {
                if !plans.contains(&name) && !errors.contains(&name) && !is_operator(&name) {
                    unknown.insert((name, path.file_name().map(std::ffi::OsStr::to_os_string)));
                }
            }
        }
    }
    assert!(
        unknown.is_empty(),
        "kernels use these names of `aten`, which are no operators, types of plans or errors; move a contract into a plan: {unknown:?}"
    );
}

#[test]
fn every_elementwise_operator_has_a_kernel_on_each_backend() {
    let mut rows = 0;
    for operator in Operator::all() {
        let is_row = matches!(operator.shape_word(), Some(ShapeWord::Pointwise { dtypes, .. }) if !dtypes.is_empty());
        if !is_row || operator.name().namespace != "aten" {
            continue;
        }
        rows += 1;
        for backend in [CPU, CUDA] {
            assert!(has_own_kernel(operator, backend), "`{operator}` has no kernel for {backend}");
        }
    }
    assert!(rows > 140, "{rows} rows");
}

fn has_own_kernel(operator: &Operator, backend: Key) -> bool {
    let is_own =
        |cell: &dispatch_runtime::TableCell| cell.key == backend && matches!(cell.provenance, Provenance::Kernel);
    operator.table().iter().any(is_own)
}
