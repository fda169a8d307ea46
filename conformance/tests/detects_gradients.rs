//! Tests that the suite finds every mistake of a gradient formula: each operator here makes one mistake.

#![allow(missing_docs, reason = "the operators are named after their mistakes")]

use aten::prelude::*;
use conformance::{Call, Check, Failure, Report, State, Suite};
use dispatch_autograd::op_grad;
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

/// Defines operators that compute a cube, with their in-place forms.
macro_rules! cubes {
    ($($schema:literal $name:ident, $in_place:literal $writing:ident, $kernel:ident $writing_kernel:ident;)*) => {$(
        #[op_def($schema)]
        pub fn $name(this: &Tensor) -> Result<Tensor>;

        #[op_impl($name, CPU)]
        fn $kernel(this: &Tensor) -> Result<Tensor> {
            cube(this)
        }

        #[op_def($in_place)]
        pub fn $writing(this: &mut Tensor) -> Result<()>;

        #[op_impl($writing, CPU)]
        fn $writing_kernel(this: &mut Tensor) -> Result<()> {
            let cubes = cube(this)?;
            aten::copy_(this, &cubes, false)
        }
    )*};
}

cubes! {
    "suite::right(Tensor self) -> Tensor" right,
    "suite::right_(Tensor(a!) self) -> Tensor(a!)" right_, right_cpu right_in_place_cpu;
    "suite::wrong(Tensor self) -> Tensor" wrong,
    "suite::wrong_(Tensor(a!) self) -> Tensor(a!)" wrong_, wrong_cpu wrong_in_place_cpu;
    "suite::wrong_by_little(Tensor self) -> Tensor" wrong_by_little,
    "suite::wrong_by_little_(Tensor(a!) self) -> Tensor(a!)" wrong_by_little_, wrong_by_little_cpu wrong_by_little_in_place_cpu;
    "suite::wrong_twice(Tensor self) -> Tensor" wrong_twice,
    "suite::wrong_twice_(Tensor(a!) self) -> Tensor(a!)" wrong_twice_, wrong_twice_cpu wrong_twice_in_place_cpu;
    "suite::unsaid(Tensor self) -> Tensor" unsaid,
    "suite::unsaid_(Tensor(a!) self) -> Tensor(a!)" unsaid_, unsaid_cpu unsaid_in_place_cpu;
}

fn cube(x: &Tensor) -> Result<Tensor> {
    &(x * x)? * x
}

fn slope(x: &Tensor) -> Result<Tensor> {
    (x * x)? * 3.0
}

#[op_grad(right)]
fn right_derivative(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    grad * slope(this)?
}

#[op_grad(right_)]
fn right_in_place_derivative(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    grad * slope(this)?
}

#[op_grad(wrong)]
fn wrong_derivative(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    grad * this
}

#[op_grad(wrong_)]
fn wrong_in_place_derivative(grad: &Tensor, result: &Tensor) -> Result<Tensor> {
    grad * slope(result)?
}

#[op_grad(wrong_by_little)]
fn wrong_by_little_derivative(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    (grad * slope(this)?)? * 1.00001
}

#[op_grad(wrong_twice)]
fn wrong_twice_derivative(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    grad * slope(&this.detach()?)?
}

/// Runs a check on a call with the recorded gradients of a cube.
fn report(check: Check, operator: &str) -> Report {
    let x = [1.5, -2.5, 0.25];
    let tensor =
        |data: [f64; 3]| format!(r#"{{"tensor": {{"dtype": "f64", "shape": [3], "strides": [1], "data": {data:?}}}}}"#);
    let gradient = [1.0, 2.0, 3.0_f64].map(f64::cos);
    let gradient = [0, 1, 2].map(|i| gradient[i] * 3.0 * x[i] * x[i]);
    let (this, result) = (tensor(x), tensor(x.map(|x| x * x * x)));
    let line = format!(
        r#"{{"op": "{operator}", "args": [{this}], "kwargs": {{}}, "out": {result}, "grad_f64": [{gradient:?}]}}"#
    );
    Suite::new(Device::CPU).check(check).run_calls(&[Call::parse(&line).unwrap()])
}

fn passes(check: Check, operator: &str) -> bool {
    let report = report(check, operator);
    let tally = report.tally(check);
    assert_eq!(tally.passed + tally.failed, if check == Check::Gradients { 1 } else { 2 }, "{operator}, {check}");
    tally.failed == 0
}

#[test]
fn a_right_derivative_passes() {
    for check in [Check::Gradients, Check::InPlaceGradients, Check::Numeric] {
        assert!(passes(check, "suite::right"), "{check}: {}", report(check, "suite::right").failed()[0]);
    }
    assert!(passes(Check::Numeric, "suite::right_"));
}

#[test]
fn a_wrong_gradient_is_found_by_the_recording_and_by_differences() {
    for operator in ["suite::wrong", "suite::wrong_by_little"] {
        let [recorded, numeric] =
            [Check::Gradients, Check::Numeric].map(|check| report(check, operator).into_failed().remove(0).failure);
        assert!(matches!(recorded, Failure::Gradient { of, .. } if of == "self"), "{operator}");
        assert!(numeric.to_string().starts_with("first order: the gradient gives a slope of"), "{numeric}");
    }
}

#[test]
fn a_gradient_that_has_the_wrong_gradient_is_found_by_differences() {
    assert!(passes(Check::Gradients, "suite::wrong_twice"));
    let found = report(Check::Numeric, "suite::wrong_twice");
    let [failed] = found.failed() else { panic!("{} fail", found.failed().len()) };
    assert!(failed.to_string().contains("second order: "), "{failed}");
}

#[test]
fn a_form_that_writes_with_another_gradient_is_found_through_a_base_and_through_a_view() {
    let found = report(Check::InPlaceGradients, "suite::wrong");
    let [base, view] = found.failed() else { panic!("{} fail", found.failed().len()) };
    assert!(base.to_string().contains("through a base: ") && view.to_string().contains("through a view: "));
    assert!(!passes(Check::Numeric, "suite::wrong_"));
}

#[test]
fn an_operator_that_nothing_is_said_of_has_no_gradients_and_is_named() {
    for check in [Check::Gradients, Check::InPlaceGradients, Check::Numeric] {
        let report = report(check, "suite::unsaid");
        assert_eq!(report.count(State::NotImplemented), 1, "{check}");
        assert!(report.missing()[0].2.contains("suite::unsaid"), "{check}");
    }
}
