//! Gradients on the CPU: as recorded, through forms that write, and by differences.

use conformance::{Check, Suite};
use dispatch_autograd::__private::Derivative;
use dispatch_runtime::schema::SchemaKind;
use dispatch_runtime::{Device, Operator};
use kernels_cpu as _;

/// Operators whose derivative no difference can show by itself, and where it is checked.
const ELSEWHERE: [(&str, &str); 0] = [];

fn holds(check: Check) {
    let report = Suite::new(Device::CPU).check(check).run().unwrap();
    let failed: Vec<String> = report.failed().iter().map(ToString::to_string).collect();
    assert!(failed.is_empty(), "{}\n\n{report}", failed.join("\n"));
}

#[test]
fn golden_gradients_agree_with_the_recorded_ones() {
    holds(Check::Gradients);
}

#[test]
fn golden_forms_that_write_have_the_gradients_of_their_twins() {
    holds(Check::InPlaceGradients);
}

#[test]
fn golden_every_derivative_agrees_with_differences() {
    let report = Suite::new(Device::CPU).check(Check::Numeric).run().unwrap();
    let failed: Vec<String> = report.failed().iter().map(ToString::to_string).collect();
    assert!(failed.is_empty(), "{}\n\n{report}", failed.join("\n"));
    let has_passed = |operator: &Operator| {
        let name = operator.name().to_string();
        let row = report.rows().iter().find(|row| row.operator == name);
        row.and_then(|row| row.tallies.get(&Check::Numeric)).is_some_and(|tally| tally.passed > 0)
    };
    let has_formula = |operator: &Operator| {
        operator.rule::<Derivative>().is_some_and(|rule| rule.run.is_some())
            && operator.schema().kind() != SchemaKind::Out
    };
    let all = Operator::all().into_iter().filter(|operator| operator.name().namespace == "aten");
    let unchecked =
        all.filter(|operator| has_formula(operator) && !has_passed(operator)).map(|operator| operator.name());
    let unchecked: Vec<String> = unchecked.map(|name| name.to_string()).collect();
    let excused: Vec<&str> = ELSEWHERE.iter().map(|(operator, _)| *operator).collect();
    assert_eq!(unchecked, excused, "derivatives that no difference was taken for");
}
