//! Tests that the suite finds every mistake of a batch rule: each operator here makes one mistake.

#![allow(missing_docs, reason = "the operators are named after their mistakes")]

use conformance::{Call, Check, Report, Suite};
use dispatch_autograd::op_grad;
use dispatch_runtime::prelude::*;
use dispatch_vmap::{Batch, Mapped, op_vmap};
use kernels_cpu as _;

/// Defines operators that double their argument, with their batch rules.
macro_rules! doubles {
    ($($operator:ident $text:literal $kernel:ident $rule:ident => |$batch:ident, $this:ident| $result:expr;)*) => {$(
        #[op_def($text)]
        pub fn $operator(this: &Tensor) -> Result<Tensor>;

        #[op_impl($operator, CompositeExplicitAutograd)]
        fn $kernel(this: &Tensor) -> Result<Tensor> {
            aten::add(this, this, Scalar::Int(1))
        }

        #[op_vmap($operator)]
        fn $rule($batch: &Batch, $this: Mapped) -> Result<Mapped> {
            $result
        }
    )*};
}

doubles! {
    correct "suite::correct(Tensor self) -> Tensor" correct_any correct_batched => |_batch, this| {
        Ok(Mapped::from_batch_first(correct(&this.batch_first()?)?))
    };
    first_slice "suite::first_slice(Tensor self) -> Tensor" first_slice_any first_slice_batched => |_batch, this| {
        Ok(Mapped::same_for_all(first_slice(&aten::select_int(&this.batch_first()?, 0, 0)?)?))
    };
    ignores_batch_dim "suite::ignores_batch_dim(Tensor self) -> Tensor" ignores_batch_dim_any ignores_batch_dim_batched => |_batch, this| {
        Ok(Mapped::from_batch_first(ignores_batch_dim(this.tensor())?))
    };
    sum_of_all "suite::sum_of_all(Tensor self) -> Tensor" sum_of_all_any sum_of_all_batched => |_batch, this| {
        let front = this.batch_first()?;
        Ok(Mapped::from_batch_first(aten::add(&front, &aten::mean_dim(&front, Some(&[0]), true, None)?, Scalar::Int(1))?))
    };
    writes_input "suite::writes_input(Tensor self) -> Tensor" writes_input_any writes_input_batched => |_batch, this| {
        let mut front = this.batch_first()?;
        aten::mul__scalar(&mut front, Scalar::Int(2))?;
        Ok(Mapped::from_batch_first(front))
    };
}

/// An operator with a correct forward pass, whose gradient formula calls an operator with a wrong batch rule.
#[op_def("suite::wrong_in_backward(Tensor self) -> Tensor")]
pub fn wrong_in_backward(this: &Tensor) -> Result<Tensor>;

#[op_impl(wrong_in_backward, CompositeExplicitAutograd)]
fn wrong_in_backward_any(this: &Tensor) -> Result<Tensor> {
    aten::add(this, this, Scalar::Int(1))
}

#[op_grad(wrong_in_backward)]
fn wrong_in_backward_derivative(grad: &Tensor) -> Result<Tensor> {
    sum_of_all(grad)
}

#[op_def("suite::looped(Tensor self) -> Tensor")]
pub fn looped(this: &Tensor) -> Result<Tensor>;

#[op_impl(looped, CompositeExplicitAutograd)]
fn looped_any(this: &Tensor) -> Result<Tensor> {
    aten::add(this, this, Scalar::Int(1))
}

#[op_def("suite::composite(Tensor self) -> Tensor")]
pub fn composite(this: &Tensor) -> Result<Tensor> {
    aten::add(this, this, Scalar::Int(1))
}

/// Runs a check on three calls, which have different batch dimensions.
fn run(operator: &str, check: Check) -> Report {
    let tensor = |factor: f64| {
        let data: Vec<f64> = (1..7).map(|i| factor * f64::from(i)).collect();
        format!(r#"{{"tensor": {{"dtype": "f64", "shape": [2, 3], "strides": [3, 1], "data": {data:?}}}}}"#)
    };
    let line = format!(r#"{{"op": "{operator}", "args": [{}], "kwargs": {{}}, "out": {}}}"#, tensor(1.0), tensor(2.0));
    let call = Call::parse(&line).unwrap();
    let calls = (0..3).map(|number| Call { number, gradients: vec![Some(vec![1.0; 6])], ..call.clone() });
    Suite::new(Device::CPU).check(check).run_calls(&calls.collect::<Vec<_>>())
}

fn failures(operator: &str) -> String {
    run(operator, Check::Vmap).failed().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn correct_batch_rules_pass() {
    for operator in ["suite::correct", "suite::looped", "suite::composite"] {
        assert_eq!(failures(operator), "");
    }
}

#[test]
fn a_rule_that_mixes_slices_is_found() {
    assert!(failures("suite::first_slice").contains("mapped over `self`: result 0 has"));
    assert!(failures("suite::sum_of_all").contains("mapped over `self`: result 0 has"));
}

#[test]
fn a_rule_that_assumes_the_batch_dimension_is_found() {
    let failures = failures("suite::ignores_batch_dim");
    assert!(
        failures.contains("mapped over `self`: failed: the batch rule of `suite::ignores_batch_dim` returned"),
        "{failures}"
    );
}

#[test]
fn a_rule_that_writes_a_read_only_argument_is_found() {
    assert!(failures("suite::writes_input").contains("wrote to `self`, which its schema declares as read-only"));
}

#[test]
fn a_wrong_batch_rule_in_the_backward_pass_is_found() {
    assert!(failures("suite::wrong_in_backward").contains("gradients: result 0 has"));
}

#[test]
fn loops_and_composites_do_not_count_as_batch_rules() {
    let with_rules = |operator| run(operator, Check::BatchRules).fully_passed(Check::BatchRules);
    assert_eq!([with_rules("suite::correct"), with_rules("suite::looped"), with_rules("suite::composite")], [1, 0, 0]);
    let report = run("suite::looped", Check::BatchRules);
    assert_eq!(
        report.not_applicable().iter().map(|(_, _, why)| *why).collect::<Vec<_>>(),
        ["it runs as a loop over slices"]
    );
}
