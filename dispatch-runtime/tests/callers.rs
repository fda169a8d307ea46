//! Tests that an error names the operator that the caller called, either alone or after the operator in which it arose.

use dispatch_runtime::keys::CompositeImplicitAutograd;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Registrar, Stack};

#[op_def("callers::inner(Tensor self, Tensor other) -> Tensor", shape = pointwise, inplace, out = "out")]
fn inner(_: ...) -> Result<Tensor>;

#[op_impl(inner, CPU)]
fn inner_cpu(_: ...) -> Result<Tensor> {
    inner::plan(this, other)?;
    Ok(this.clone())
}

/// An operator whose first argument is the second argument of `inner`.
#[op_def("callers::swapped(Tensor first, Tensor second) -> Tensor", out = "out", calls = inner(second, first))]
fn swapped(_: ...) -> Result<Tensor>;

#[op_def("callers::composite(Tensor self, Tensor other) -> Tensor", out = "out")]
fn composite(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    inner(other, this)
}

#[op_def("callers::checked_composite(Tensor self, Tensor other) -> Tensor", check = check_equal_sizes(this, other))]
fn checked_composite(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    composite(this, other)
}

#[op_def("callers::boxed_composite(Tensor self, Tensor other) -> Tensor")]
fn boxed_composite(_: ...) -> Result<Tensor>;

#[op_impl(boxed_composite, CompositeImplicitAutograd, boxed)]
fn boxed_composite_kernel(_: &Operator, _: KeySet, stack: &mut Stack) -> Result<()> {
    composite::operator().call_boxed(stack)
}

fn check_equal_sizes(this: &Tensor, other: &Tensor) -> Result<(), BadArgument> {
    if this.sizes() == other.sizes() {
        return Ok(());
    }
    Err(BadArgument::sizes("other", other.sizes(), format!("{:?}, as `self` has", this.sizes())))
}

fn tensors_of_two_sizes() -> (Tensor, Tensor) {
    (Tensor::from_slice(&[1.0_f32; 2]), Tensor::from_slice(&[1.0_f32; 3]))
}

const INNER_ERROR: &str = "`callers::inner`: argument `other` has sizes [2], which do not broadcast with [3]: counted from the last, sizes must be \
                    equal, or one of them 1";

#[test]
fn an_error_names_the_composites_that_called_the_operator() {
    let (x, y) = tensors_of_two_sizes();
    assert_eq!(composite(&x, &y).unwrap_err().to_string(), format!("{INNER_ERROR}\n  called by `callers::composite`"));
    let through_boxed =
        format!("{INNER_ERROR}\n  called by `callers::composite`\n  called by `callers::boxed_composite`");
    assert_eq!(boxed_composite(&x, &y).unwrap_err().to_string(), through_boxed);
    let error = boxed_composite::operator().call([x.clone().into(), y.clone().into()]).unwrap_err();
    assert_eq!(error.to_string(), through_boxed);
    let error = composite_out(&x, &y, &mut x.clone()).unwrap_err().to_string();
    assert_eq!(error, format!("{INNER_ERROR}\n  called by `callers::composite`\n  called by `callers::composite.out`"));
}

#[test]
fn an_error_below_a_closure_names_the_operator_of_the_closure() {
    let registrar = Registrar::new("callers");
    let _definition = registrar.define("late(Tensor self, Tensor other) -> Tensor").unwrap();
    let kernel = |_: &Operator, _: KeySet, stack: &mut Stack| composite::operator().call_boxed(stack);
    let _kernel = registrar.kernel("late", CompositeImplicitAutograd, kernel).unwrap();
    let (x, y) = tensors_of_two_sizes();
    let error = Operator::find("callers::late").unwrap().call([x.into(), y.into()]).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("{INNER_ERROR}\n  called by `callers::composite`\n  called by `callers::late`")
    );
}

#[test]
fn the_check_of_a_composite_runs_only_if_the_body_fails() {
    let (x, y) = tensors_of_two_sizes();
    let error = checked_composite(&x, &y).unwrap_err().to_string();
    assert_eq!(error, "`callers::checked_composite`: argument `other` has sizes [3], but must have [2], as `self` has");
    let wide = Tensor::from_slice(&[1.0_f32]);
    assert_eq!(checked_composite(&x, &wide).unwrap().sizes(), [1]);
}

#[test]
fn an_operator_that_only_calls_another_reports_its_errors_as_its_own() {
    let (x, y) = tensors_of_two_sizes();
    let expected = INNER_ERROR.replace("inner", "swapped").replace("other", "first");
    assert_eq!(swapped(&x, &y).unwrap_err().to_string(), expected);
    let expected = expected.replace("swapped", "swapped.out");
    assert_eq!(swapped_out(&x, &y, &mut x.clone()).unwrap_err().to_string(), expected);
}
