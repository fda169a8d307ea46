//! Tests of gradients on the CPU: against recordings, of in-place forms, and against finite differences.

use conformance::{Check, Suite};
use dispatch_autograd::__private::Derivative;
use dispatch_runtime::schema::SchemaKind;
use dispatch_runtime::{Device, Operator};
use kernels_cpu as _;

/// Operators whose gradients cannot be checked by finite differences, with the reasons.
const ELSEWHERE: [(&str, &str); 39] = [
    ("aten::_ctc_loss", "its gradient is that of what was normalised; the recordings have it"),
    ("aten::_dirichlet_grad", UNKNOWN),
    ("aten::_pin_memory", "it needs a device that pins memory"),
    ("aten::_sample_dirichlet", RANDOM),
    ("aten::_standard_gamma", RANDOM),
    ("aten::_standard_gamma_grad", UNKNOWN),
    ("aten::as_strided_scatter", "its gradient is PyTorch's, and no derivative of it; the recordings have it"),
    ("aten::bernoulli", RANDOM),
    ("aten::bernoulli.Tensor", RANDOM),
    ("aten::bernoulli.p", RANDOM),
    ("aten::bernoulli_.float", RANDOM),
    ("aten::binomial", RANDOM),
    ("aten::cauchy", RANDOM),
    ("aten::exponential", RANDOM),
    ("aten::fractional_max_pool2d_backward", OF_ITS_FORWARD),
    ("aten::fractional_max_pool3d_backward", OF_ITS_FORWARD),
    ("aten::geometric", RANDOM),
    ("aten::igamma", BY_ONE),
    ("aten::igammac", BY_ONE),
    ("aten::log_normal", RANDOM),
    ("aten::max_unpool2d", "elements that meet in one place all have its gradient; the recordings have it"),
    ("aten::max_unpool3d", "as in two dimensions"),
    ("aten::native_batch_norm_backward", OF_ITS_FORWARD),
    ("aten::native_group_norm_backward", OF_ITS_FORWARD),
    ("aten::native_layer_norm_backward", OF_ITS_FORWARD),
    ("aten::normal.Tensor_Tensor", RANDOM),
    ("aten::normal.Tensor_float", RANDOM),
    ("aten::normal.float_Tensor", RANDOM),
    ("aten::normal_", RANDOM),
    ("aten::normal_functional", RANDOM),
    ("aten::poisson", RANDOM),
    ("aten::random", RANDOM),
    ("aten::random.from", RANDOM),
    ("aten::random.to", RANDOM),
    ("aten::special_entr", "its recorded arguments are below zero; the recordings have its gradient"),
    ("aten::special_zeta", BY_ONE),
    ("aten::uniform", RANDOM),
    ("aten::view_as_complex", COMPLEX),
    ("aten::view_as_real", COMPLEX),
];

const RANDOM: &str = "its results are random";
const OF_ITS_FORWARD: &str = "it takes results of its forward that must fit its other arguments; the second order of the forward has its derivative";
const UNKNOWN: &str = "nobody worked its derivative out, in PyTorch either";
const BY_ONE: &str = "it can be differentiated by its second argument alone; the recordings have that";
const COMPLEX: &str = "differences are taken of real numbers";

/// Operators of which some first- or second-order gradient is an error, as in PyTorch.
const RAISE: [(&str, &str); 21] = [
    ("aten::_embedding_bag", ONCE),
    ("aten::_embedding_bag_forward_only", NEVER),
    ("aten::_unique2", NEVER),
    ("aten::embedding_bag", ONCE),
    ("aten::embedding_bag.padding_idx", ONCE),
    ("aten::embedding_renorm_", NEVER),
    ("aten::floor_divide", NEVER),
    ("aten::floor_divide.Scalar", NEVER),
    ("aten::heaviside", NEVER),
    ("aten::igamma", BY_OTHERS),
    ("aten::igammac", BY_OTHERS),
    ("aten::multi_margin_loss", ONCE),
    ("aten::multi_margin_loss_backward", NEVER),
    ("aten::multilabel_margin_loss", ONCE),
    ("aten::multilabel_margin_loss_backward", NEVER),
    ("aten::multilabel_margin_loss_forward", ONCE),
    ("aten::nll_loss_forward", BY_OTHERS),
    ("aten::segment_reduce", ONCE),
    ("aten::special_zeta", BY_OTHERS),
    ("aten::unique_consecutive", NEVER),
    ("aten::unique_dim", NEVER),
];

const NEVER: &str = "PyTorch does not differentiate it";
const ONCE: &str = "PyTorch does not differentiate its gradient";
const BY_OTHERS: &str = "PyTorch does not differentiate it by one of its arguments: `self`, or the weight of classes";

fn holds(check: Check) {
    let report = Suite::new(Device::CPU).check(check).run_on(&[Device::CPU; 2]).unwrap();
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
    let report = Suite::new(Device::CPU).check(Check::Numeric).run_on(&[Device::CPU; 2]).unwrap();
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
    let excused: Vec<&str> = RAISE.iter().map(|(operator, _)| *operator).collect();
    assert_eq!(raising, excused, "what has no gradient, or none of its gradient");
}
