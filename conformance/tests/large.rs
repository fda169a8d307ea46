//! Calls with more than 70,000 elements on the CPU.

use conformance::{Check, Suite, large};
use dispatch_runtime::{DType, Device, Operator};
use kernels_cpu as _;

#[test]
fn every_operator_of_the_families_has_a_large_call_or_a_reason_for_none() {
    assert_eq!(large::uncovered(), Vec::<String>::new());
}

/// Operators that are known to be wrong for many elements.
const WRONG: [(&str, &str); 1] =
    [("aten::logsumexp", "f32: exponentials of a long line are added up one after the other")];

/// Dtypes that only the program `conformance` tries, because these tests take minutes.
const NOT_HERE: [DType; 6] = [DType::F64, DType::BF16, DType::I32, DType::I16, DType::I8, DType::C128];

fn holds(operators: &[&Operator]) {
    let suite = NOT_HERE.into_iter().fold(Suite::new(Device::CPU).check(Check::Large), Suite::without);
    let report = operators.iter().fold(suite, |suite, operator| suite.only(operator.name().to_string())).run().unwrap();
    let failed = report.failed();
    let failed: Vec<String> = failed
        .iter()
        .filter(|failed| !WRONG.iter().any(|(name, _)| *name == failed.operator))
        .map(ToString::to_string)
        .collect();
    assert!(failed.is_empty(), "{}\n\n{report}", failed.join("\n"));
    assert_eq!(report.tally(Check::Large).not_implemented, 0, "{report}");
}

/// Half of the operators.
fn every_other(from: usize) -> Vec<&'static Operator> {
    Operator::all().into_iter().skip(from).step_by(2).collect()
}

#[test]
fn half_of_the_operators_give_for_many_elements_what_they_give_for_few() {
    holds(&every_other(0));
}

#[test]
fn the_other_operators_give_for_many_elements_what_they_give_for_few() {
    holds(&every_other(1));
}
