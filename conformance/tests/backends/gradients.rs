//! Tests of gradients on the CPU: against recordings, of in-place forms, and against finite differences.

use conformance::{Check, Suite};
use dispatch_autograd::__private::Derivative;
use dispatch_runtime::schema::SchemaKind;
use dispatch_runtime::{Device, Operator};

use crate::assert_no_failures;

/// Operators whose gradients cannot be checked by finite differences, with the reasons.
const OPERATORS_NOT_CHECKED: [(&str, &str); 47] = [
    ("aten::_ctc_loss", "its gradient assumes that its input is a log-softmax; the recordings have it"),
    ("aten::_dirichlet_grad", NOT_IMPLEMENTED_REASON),
    ("aten::_fake_quantize_learnable_per_channel_affine", ROUNDING_REASON),
    ("aten::_fake_quantize_learnable_per_tensor_affine", ROUNDING_REASON),
    ("aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", ROUNDING_REASON),
    ("aten::_fused_moving_avg_obs_fq_helper", ROUNDING_REASON),
    ("aten::_fused_moving_avg_obs_fq_helper_functional", ROUNDING_REASON),
    ("aten::_pin_memory", "it needs a device that pins memory"),
    ("aten::_sample_dirichlet", RANDOM_REASON),
    ("aten::_standard_gamma", RANDOM_REASON),
    ("aten::_standard_gamma_grad", NOT_IMPLEMENTED_REASON),
    ("aten::as_strided_scatter", "its gradient in PyTorch is not its derivative; the recordings have it"),
    ("aten::bernoulli", RANDOM_REASON),
    ("aten::bernoulli.Tensor", RANDOM_REASON),
    ("aten::bernoulli.p", RANDOM_REASON),
    ("aten::bernoulli_.float", RANDOM_REASON),
    ("aten::binomial", RANDOM_REASON),
    ("aten::cauchy", RANDOM_REASON),
    ("aten::cholesky_inverse", UNREAD_TRIANGLE_REASON),
    ("aten::cholesky_solve", UNREAD_TRIANGLE_REASON),
    ("aten::exponential", RANDOM_REASON),
    ("aten::fake_quantize_per_channel_affine_cachemask", ROUNDING_REASON),
    ("aten::fake_quantize_per_tensor_affine_cachemask", ROUNDING_REASON),
    ("aten::fractional_max_pool2d_backward", FORWARD_RESULTS_REASON),
    ("aten::fractional_max_pool3d_backward", FORWARD_RESULTS_REASON),
    ("aten::geometric", RANDOM_REASON),
    ("aten::igamma", ONLY_SECOND_ARGUMENT_REASON),
    ("aten::igammac", ONLY_SECOND_ARGUMENT_REASON),
    ("aten::linalg_eig", "eigenvectors are unique only up to a phase; tests of autograd check it"),
    ("aten::log_normal", RANDOM_REASON),
    (
        "aten::max_unpool2d",
        "several elements that are written to one place all receive its gradient; the recordings have it",
    ),
    ("aten::max_unpool3d", "as in two dimensions"),
    ("aten::native_batch_norm_backward", FORWARD_RESULTS_REASON),
    ("aten::native_group_norm_backward", FORWARD_RESULTS_REASON),
    ("aten::native_layer_norm_backward", FORWARD_RESULTS_REASON),
    ("aten::normal.Tensor_Tensor", RANDOM_REASON),
    ("aten::normal.Tensor_float", RANDOM_REASON),
    ("aten::normal.float_Tensor", RANDOM_REASON),
    ("aten::normal_", RANDOM_REASON),
    ("aten::normal_functional", RANDOM_REASON),
    ("aten::poisson", RANDOM_REASON),
    ("aten::random", RANDOM_REASON),
    ("aten::random.from", RANDOM_REASON),
    ("aten::random.to", RANDOM_REASON),
    ("aten::special_entr", "its recorded arguments are below zero; the recordings have its gradient"),
    ("aten::special_zeta", ONLY_SECOND_ARGUMENT_REASON),
    ("aten::uniform", RANDOM_REASON),
];

const RANDOM_REASON: &str = "its results are random";
const FORWARD_RESULTS_REASON: &str =
    "its arguments include results of the forward operator; the second order of that operator checks its derivative";
const NOT_IMPLEMENTED_REASON: &str = "its derivative is not implemented, in PyTorch either";
const ONLY_SECOND_ARGUMENT_REASON: &str =
    "it is differentiable only with respect to its second argument; the recordings have that gradient";
const ROUNDING_REASON: &str = "it rounds, and its gradient is that of the numbers before";

/// Operators of which some first- or second-order gradient is an error, as in PyTorch.
const OPERATORS_WITH_GRADIENT_ERRORS: [(&str, &str); 27] = [
    ("aten::_cholesky_solve_helper", NO_GRADIENT_REASON),
    ("aten::_embedding_bag", NO_SECOND_GRADIENT_REASON),
    ("aten::_embedding_bag_forward_only", NO_GRADIENT_REASON),
    ("aten::_unique2", NO_GRADIENT_REASON),
    ("aten::batch_norm_update_stats", NO_GRADIENT_REASON),
    ("aten::embedding_bag", NO_SECOND_GRADIENT_REASON),
    ("aten::embedding_bag.padding_idx", NO_SECOND_GRADIENT_REASON),
    ("aten::embedding_renorm_", NO_GRADIENT_REASON),
    ("aten::floor_divide", NO_GRADIENT_REASON),
    ("aten::floor_divide.Scalar", NO_GRADIENT_REASON),
    ("aten::geqrf", NO_GRADIENT_REASON),
    ("aten::heaviside", NO_GRADIENT_REASON),
    ("aten::igamma", NOT_ALL_ARGUMENTS_REASON),
    ("aten::igammac", NOT_ALL_ARGUMENTS_REASON),
    ("aten::linalg_ldl_factor", NO_GRADIENT_REASON),
    ("aten::linalg_ldl_factor_ex", NO_GRADIENT_REASON),
    ("aten::linalg_ldl_solve", NO_GRADIENT_REASON),
    ("aten::multi_margin_loss", NO_SECOND_GRADIENT_REASON),
    ("aten::multi_margin_loss_backward", NO_GRADIENT_REASON),
    ("aten::multilabel_margin_loss", NO_SECOND_GRADIENT_REASON),
    ("aten::multilabel_margin_loss_backward", NO_GRADIENT_REASON),
    ("aten::multilabel_margin_loss_forward", NO_SECOND_GRADIENT_REASON),
    ("aten::nll_loss_forward", NOT_ALL_ARGUMENTS_REASON),
    ("aten::segment_reduce", NO_SECOND_GRADIENT_REASON),
    ("aten::special_zeta", NOT_ALL_ARGUMENTS_REASON),
    ("aten::unique_consecutive", NO_GRADIENT_REASON),
    ("aten::unique_dim", NO_GRADIENT_REASON),
];

const NO_GRADIENT_REASON: &str = "PyTorch does not differentiate it";
const NO_SECOND_GRADIENT_REASON: &str = "PyTorch does not differentiate its gradient";
const UNREAD_TRIANGLE_REASON: &str =
    "its gradient in PyTorch includes the triangle that is not read; the recordings have it";
const NOT_ALL_ARGUMENTS_REASON: &str =
    "PyTorch does not differentiate it with respect to one of its arguments: `self`, or the weight of classes";

fn assert_check_passes(check: Check) {
    let report = Suite::new(Device::CPU).only_check(check).run_on_devices(&[Device::CPU; 2]).unwrap();
    assert_no_failures(&report);
}

#[test]
fn golden_gradients_agree_with_the_recorded_ones() {
    assert_check_passes(Check::Gradients);
}

#[test]
fn golden_in_place_forms_have_the_gradients_of_functional_forms() {
    assert_check_passes(Check::InPlaceGradients);
}

#[test]
fn golden_every_derivative_agrees_with_finite_differences() {
    let report = Suite::new(Device::CPU).only_check(Check::Numeric).run_on_devices(&[Device::CPU; 2]).unwrap();
    assert_no_failures(&report);
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
    let excused: Vec<&str> = OPERATORS_NOT_CHECKED.iter().map(|(operator, _)| *operator).collect();
    assert_eq!(unchecked, excused, "derivatives that finite differences do not check");
    let raising = report.missing_items().iter().map(|(operator, ..)| &**operator);
    let raising: Vec<&str> = raising.filter(|operator| Operator::find(operator).is_ok()).collect();
    let excused: Vec<&str> = OPERATORS_WITH_GRADIENT_ERRORS.iter().map(|(operator, _)| *operator).collect();
    assert_eq!(raising, excused, "operators without a gradient of the first or second order");
}
