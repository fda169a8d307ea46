//! Tests that the suite finds every mistake of a gradient formula: each operator here makes one mistake.

#![allow(missing_docs, unreachable_pub, reason = "the operators are named after their mistakes")]

use aten::prelude::*;
use conformance::{Call, Check, Failure, OperatorState, Report, Suite};
use dispatch_autograd::op_grad;
use dispatch_runtime::prelude::*;

/// Defines operators that compute a cube, with their in-place forms.
macro_rules! define_cube_operators {
    ($($schema:literal $name:ident, $in_place:literal $writing:ident, $kernel:ident $writing_kernel:ident;)*) => {$(
        #[op_def($schema)]
        pub fn $name(this: &Tensor) -> Result<Tensor>;

        #[op_impl($name, CPU)]
        fn $kernel(this: &Tensor) -> Result<Tensor> {
            compute_cube(this)
        }

        #[op_def($in_place)]
        pub fn $writing(this: &mut Tensor) -> Result<()>;

        #[op_impl($writing, CPU)]
        fn $writing_kernel(this: &mut Tensor) -> Result<()> {
            let cubes = compute_cube(this)?;
            aten::copy_(this, &cubes, false)
        }
    )*};
}

define_cube_operators! {
    "suite::correct_cube(Tensor self) -> Tensor" correct_cube,
    "suite::correct_cube_(Tensor(a!) self) -> Tensor(a!)" correct_cube_, correct_cube_cpu correct_cube_in_place_cpu;
    "suite::wrong_cube(Tensor self) -> Tensor" wrong_cube,
    "suite::wrong_cube_(Tensor(a!) self) -> Tensor(a!)" wrong_cube_, wrong_cube_cpu wrong_cube_in_place_cpu;
    "suite::slightly_wrong_cube(Tensor self) -> Tensor" slightly_wrong_cube,
    "suite::slightly_wrong_cube_(Tensor(a!) self) -> Tensor(a!)" slightly_wrong_cube_, slightly_wrong_cube_cpu slightly_wrong_cube_in_place_cpu;
    "suite::second_order_wrong_cube(Tensor self) -> Tensor" second_order_wrong_cube,
    "suite::second_order_wrong_cube_(Tensor(a!) self) -> Tensor(a!)" second_order_wrong_cube_, second_order_wrong_cube_cpu second_order_wrong_cube_in_place_cpu;
    "suite::cube_without_derivative(Tensor self) -> Tensor" cube_without_derivative,
    "suite::cube_without_derivative_(Tensor(a!) self) -> Tensor(a!)" cube_without_derivative_, cube_without_derivative_cpu cube_without_derivative_in_place_cpu;
}

fn compute_cube(x: &Tensor) -> Result<Tensor> {
    &(x * x)? * x
}

fn cube_derivative(x: &Tensor) -> Result<Tensor> {
    (x * x)? * 3.0
}

#[op_grad(correct_cube)]
fn correct_derivative(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    grad * cube_derivative(this)?
}

#[op_grad(correct_cube_)]
fn correct_in_place_derivative(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    grad * cube_derivative(this)?
}

#[op_grad(wrong_cube)]
fn wrong_derivative(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    grad * this
}

#[op_grad(wrong_cube_)]
fn wrong_in_place_derivative(grad: &Tensor, result: &Tensor) -> Result<Tensor> {
    grad * cube_derivative(result)?
}

#[op_grad(slightly_wrong_cube)]
fn slightly_wrong_derivative(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    (grad * cube_derivative(this)?)? * 1.00001
}

#[op_grad(second_order_wrong_cube)]
fn wrong_second_order_derivative(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    grad * cube_derivative(&this.detach()?)?
}

/// Runs a check on a call with the recorded gradients of a cube.
fn run_gradient_check(check: Check, operator: &str) -> Report {
    let x = [1.5, -2.5, 0.25];
    let tensor =
        |data: [f64; 3]| format!(r#"{{"tensor": {{"dtype": "f64", "shape": [3], "strides": [1], "data": {data:?}}}}}"#);
    let gradient = [1.0, 2.0, 3.0_f64].map(f64::cos);
    let gradient = [0, 1, 2].map(|i| gradient[i] * 3.0 * x[i] * x[i]);
    let (this, result) = (tensor(x), tensor(x.map(|x| x * x * x)));
    let line = format!(
        r#"{{"op": "{operator}", "args": [{this}], "kwargs": {{}}, "out": {result}, "grad_f64": [{gradient:?}]}}"#
    );
    Suite::new(Device::CPU).only_check(check).run_calls(&[Call::parse(&line).unwrap()])
}

fn passes_check(check: Check, operator: &str) -> bool {
    let report = run_gradient_check(check, operator);
    let tally = report.tally(check);
    assert_eq!(tally.passed + tally.failed, if check == Check::Gradients { 1 } else { 2 }, "{operator}, {check}");
    tally.failed == 0
}

#[test]
fn a_correct_derivative_passes() {
    for check in [Check::Gradients, Check::InPlaceGradients, Check::Numeric] {
        assert!(
            passes_check(check, "suite::correct_cube"),
            "{check}: {}",
            run_gradient_check(check, "suite::correct_cube").failed_checks()[0]
        );
    }
    assert!(passes_check(Check::Numeric, "suite::correct_cube_"));
}

#[test]
fn a_wrong_gradient_is_found_by_the_recording_and_by_differences() {
    for operator in ["suite::wrong_cube", "suite::slightly_wrong_cube"] {
        let [recorded, numeric] = [Check::Gradients, Check::Numeric]
            .map(|check| run_gradient_check(check, operator).into_failed_checks().remove(0).failure);
        assert!(matches!(recorded, Failure::WrongGradient { argument, .. } if argument == "self"), "{operator}");
        assert!(numeric.to_string().starts_with("first order: the directional derivative is"), "{numeric}");
    }
}

#[test]
fn a_wrong_second_derivative_is_found_by_finite_differences() {
    assert!(passes_check(Check::Gradients, "suite::second_order_wrong_cube"));
    let found = run_gradient_check(Check::Numeric, "suite::second_order_wrong_cube");
    let [failed] = found.failed_checks() else { panic!("{} checks fail", found.failed_checks().len()) };
    assert!(failed.to_string().contains("second order: "), "{failed}");
}

#[test]
fn a_wrong_in_place_derivative_is_found_through_a_base_and_through_a_view() {
    let found = run_gradient_check(Check::InPlaceGradients, "suite::wrong_cube");
    let [base, view] = found.failed_checks() else { panic!("{} checks fail", found.failed_checks().len()) };
    assert!(base.to_string().contains("through a base: ") && view.to_string().contains("through a view: "));
    assert!(!passes_check(Check::Numeric, "suite::wrong_cube_"));
}

#[test]
fn an_operator_without_a_derivative_is_reported_as_missing() {
    for check in [Check::Gradients, Check::InPlaceGradients, Check::Numeric] {
        let report = run_gradient_check(check, "suite::cube_without_derivative");
        assert_eq!(report.operator_count(OperatorState::NotImplemented), 1, "{check}");
        assert!(report.missing_items()[0].2.contains("suite::cube_without_derivative"), "{check}");
    }
}
