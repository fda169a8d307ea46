//! Checks of whole programs: recorded programs have no findings, and a wrong description has exactly one.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs};

use dispatch_pt2::{CheckReport, Program, RecordedValue};

fn report(path: impl AsRef<Path>) -> CheckReport {
    Program::load(path).unwrap().check().unwrap()
}

/// Returns the programs in a folder, if it exists.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is_program = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "pt2");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).filter(is_program).collect();
    paths.sort();
    paths
}

/// Compares all nodes of the programs in `DISPATCH_GOLDEN/pt2`, or else in the copies in this repository.
#[test]
fn golden_programs_have_no_findings() {
    let folders = match env::var_os("DISPATCH_GOLDEN") {
        Some(folder) => vec![Path::new(&folder).join("pt2")],
        None => ["tests/golden", "tests/programs", "tests/checks"].map(PathBuf::from).to_vec(),
    };
    let (mut clean, mut time) = (0, Duration::ZERO);
    for path in folders.iter().flat_map(|folder| programs(folder)) {
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("wrong_")) {
            continue;
        }
        // Programs with operators of other libraries are for the command `check`, which links them.
        let Ok(program) = Program::load(&path) else { continue };
        let start = Instant::now();
        let report = program.check().unwrap();
        time += start.elapsed();
        assert!(report.is_clean(), "{}: {report}", path.display());
        clean += 1;
    }
    println!("{clean} programs checked in {time:?}");
    assert!(clean > 0);
}

#[test]
fn a_wrong_size_is_one_finding_that_names_the_node() {
    let report = report("tests/checks/wrong_size.pt2");
    let [finding] = report.findings.as_slice() else { panic!("{report}") };
    assert_eq!(
        finding.to_string(),
        "node `linear` (torch.ops.aten.linear.default) of module `0`: `linear` is recorded as float32[2, 9], and computed as float32[2, 8]"
    );
    assert!(!report.is_clean());
}

#[test]
fn a_wrong_dtype_is_one_finding() {
    let report = report("tests/checks/wrong_dtype.pt2");
    let [finding] = report.findings.as_slice() else { panic!("{report}") };
    assert_eq!((&*finding.value, &*finding.recorded, &*finding.computed), ("relu", "float64[2, 8]", "float32[2, 8]"));
}

#[test]
fn a_wrong_expression_is_found_with_the_values_of_its_symbols() {
    let report = report("tests/checks/wrong_expression.pt2");
    assert!(report.assignments.len() >= 3, "{report}");
    let [finding] = report.findings.as_slice() else { panic!("{report}") };
    assert_eq!((&*finding.node, &*finding.recorded, &*finding.computed), ("cat", "float32[9]", "float32[6]"));
    assert!(finding.assignment.ends_with("= 3"), "{finding}");
}

#[test]
fn nodes_inside_of_higher_order_operators_are_compared() {
    let report = report("tests/checks/wrong_size_in_branch.pt2");
    let [finding] = report.findings.as_slice() else { panic!("{report}") };
    assert_eq!(
        (&*finding.target, &*finding.recorded, &*finding.computed),
        ("torch.ops.aten.relu.default", "float32[5]", "float32[3]")
    );
}

#[test]
fn nodes_have_readable_descriptions() {
    let program = Program::load("tests/checks/derived.pt2").unwrap();
    let nodes = program.nodes();
    let described = |name: &str| {
        let results = nodes.iter().flat_map(|node| &node.results);
        results.filter(|result| result.name == name).map(|result| result.recorded.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(described("slice_1"), ["float32[s77, 3]"]);
    let absent = |result: &dispatch_pt2::ProgramValue<'_>| *result.recorded == RecordedValue::Absent;
    assert!(nodes.iter().flat_map(|node| &node.results).all(|result| !absent(result)));
    assert_eq!(nodes.iter().map(|node| node.depth).max(), Some(0));
}
