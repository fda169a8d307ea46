//! Gradients on the CPU: as recorded, through forms that write, and by differences.

use conformance::{Check, Suite};
use dispatch_autograd::__private::Derivative;
use dispatch_runtime::schema::SchemaKind;
use dispatch_runtime::{Device, Operator};
use kernels_cpu as _;

/// What no difference shows, and why.
const ELSEWHERE: [(&str, &str); 23] = [
    ("aten::as_strided_scatter", "its gradient is PyTorch's, and no derivative of it; the recordings have it"),
    ("aten::bernoulli", RANDOM),
    ("aten::bernoulli.Tensor", RANDOM),
    ("aten::bernoulli.p", RANDOM),
    ("aten::bernoulli_.float", RANDOM),
    ("aten::cauchy", RANDOM),
    ("aten::exponential", RANDOM),
    ("aten::geometric", RANDOM),
    ("aten::log_normal", RANDOM),
    ("aten::native_batch_norm_backward", OF_ITS_FORWARD),
    ("aten::native_group_norm_backward", OF_ITS_FORWARD),
    ("aten::native_layer_norm_backward", OF_ITS_FORWARD),
    ("aten::normal.Tensor_Tensor", RANDOM),
    ("aten::normal.Tensor_float", RANDOM),
    ("aten::normal.float_Tensor", RANDOM),
    ("aten::normal_", RANDOM),
    ("aten::normal_functional", RANDOM),
    ("aten::random", RANDOM),
    ("aten::random.from", RANDOM),
    ("aten::random.to", RANDOM),
    ("aten::uniform", RANDOM),
    ("aten::view_as_complex", COMPLEX),
    ("aten::view_as_real", COMPLEX),
];

const RANDOM: &str = "its results are random";
const OF_ITS_FORWARD: &str = "it takes results of its forward that must fit its other arguments; the second order of the forward has its derivative";
const COMPLEX: &str = "differences are taken of real numbers";

/// What raises in PyTorch too, and by what.
const RAISE: [&str; 6] = [
    "aten::_unique2",
    "aten::embedding_renorm_",
    "aten::floor_divide",
    "aten::heaviside",
    // By the weights of the classes.
    "aten::nll_loss_forward",
    "aten::unique_consecutive",
];

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
    let unchecked = all.filter(|operator| has_formula(operator) && !has_passed(operator)).map(Operator::name);
    let unchecked: Vec<String> = unchecked.map(|name| name.to_string()).collect();
    let excused: Vec<&str> = ELSEWHERE.iter().map(|(operator, _)| *operator).collect();
    assert_eq!(unchecked, excused, "derivatives that no difference was taken for");
    let raising = report.missing().iter().map(|(operator, ..)| &**operator);
    let raising: Vec<&str> = raising.filter(|operator| Operator::find(operator).is_ok()).collect();
    assert_eq!(raising, RAISE, "what has no gradient, or none of its gradient");
}
