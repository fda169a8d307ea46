//! Tests that the suite finds every mistake of a batch rule: each operator here makes one mistake.

#![allow(missing_docs, unreachable_pub, reason = "the operators are named after their mistakes")]

use conformance::{Call, Check, Report, Suite};
use dispatch_autograd::op_grad;
use dispatch_runtime::prelude::*;
use dispatch_vmap::{Batch, Mapped, op_vmap};

/// Defines operators that double their argument, with their batch rules.
macro_rules! define_doubling_operators {
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

define_doubling_operators! {
    double_with_correct_rule "suite::double_with_correct_rule(Tensor self) -> Tensor" double_with_correct_rule_kernel double_with_correct_rule_batched => |_batch, this| {
        Ok(Mapped::from_batch_first(double_with_correct_rule(&this.batch_first()?)?))
    };
    double_of_first_slice "suite::double_of_first_slice(Tensor self) -> Tensor" double_of_first_slice_kernel double_of_first_slice_batched => |_batch, this| {
        Ok(Mapped::same_for_all(double_of_first_slice(&aten::select_int(&this.batch_first()?, 0, 0)?)?))
    };
    double_ignoring_batch_dim "suite::double_ignoring_batch_dim(Tensor self) -> Tensor" double_ignoring_batch_dim_kernel double_ignoring_batch_dim_batched => |_batch, this| {
        Ok(Mapped::from_batch_first(double_ignoring_batch_dim(this.tensor())?))
    };
    double_mixing_slices "suite::double_mixing_slices(Tensor self) -> Tensor" double_mixing_slices_kernel double_mixing_slices_batched => |_batch, this| {
        let front = this.batch_first()?;
        Ok(Mapped::from_batch_first(aten::add(&front, &aten::mean_dim(&front, Some(&[0]), true, None)?, Scalar::Int(1))?))
    };
    double_writing_its_argument "suite::double_writing_its_argument(Tensor self) -> Tensor" double_writing_its_argument_kernel double_writing_its_argument_batched => |_batch, this| {
        let mut front = this.batch_first()?;
        aten::mul__scalar(&mut front, Scalar::Int(2))?;
        Ok(Mapped::from_batch_first(front))
    };
}

/// An operator with a correct forward pass, whose gradient formula calls an operator with a wrong batch rule.
#[op_def("suite::double_with_wrong_backward(Tensor self) -> Tensor")]
pub fn double_with_wrong_backward(this: &Tensor) -> Result<Tensor>;

#[op_impl(double_with_wrong_backward, CompositeExplicitAutograd)]
fn double_with_wrong_backward_kernel(this: &Tensor) -> Result<Tensor> {
    aten::add(this, this, Scalar::Int(1))
}

#[op_grad(double_with_wrong_backward)]
fn double_with_wrong_backward_derivative(grad: &Tensor) -> Result<Tensor> {
    double_mixing_slices(grad)
}

#[op_def("suite::double_without_rule(Tensor self) -> Tensor")]
pub fn double_without_rule(this: &Tensor) -> Result<Tensor>;

#[op_impl(double_without_rule, CompositeExplicitAutograd)]
fn double_without_rule_kernel(this: &Tensor) -> Result<Tensor> {
    aten::add(this, this, Scalar::Int(1))
}

#[op_def("suite::composite_double(Tensor self) -> Tensor")]
pub fn composite_double(this: &Tensor) -> Result<Tensor> {
    aten::add(this, this, Scalar::Int(1))
}

/// Runs a check on three calls, which have different batch dimensions.
fn run_batch_check(operator: &str, check: Check) -> Report {
    let tensor = |factor: f64| {
        let data: Vec<f64> = (1..7).map(|i| factor * f64::from(i)).collect();
        format!(r#"{{"tensor": {{"dtype": "f64", "shape": [2, 3], "strides": [3, 1], "data": {data:?}}}}}"#)
    };
    let line = format!(r#"{{"op": "{operator}", "args": [{}], "kwargs": {{}}, "out": {}}}"#, tensor(1.0), tensor(2.0));
    let call = Call::parse(&line).unwrap();
    let calls = (0..3).map(|number| Call { number, gradients: vec![Some(vec![1.0; 6])], ..call.clone() });
    Suite::new(Device::CPU).only_check(check).run_calls(&calls.collect::<Vec<_>>())
}

fn vmap_failures(operator: &str) -> String {
    run_batch_check(operator, Check::Vmap)
        .failed_checks()
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn correct_batch_rules_pass() {
    for operator in ["suite::double_with_correct_rule", "suite::double_without_rule", "suite::composite_double"] {
        assert_eq!(vmap_failures(operator), "");
    }
}

#[test]
fn a_rule_that_mixes_slices_is_found() {
    assert!(vmap_failures("suite::double_of_first_slice").contains("mapped over `self`: result 0 has"));
    assert!(vmap_failures("suite::double_mixing_slices").contains("mapped over `self`: result 0 has"));
}

#[test]
fn a_rule_that_assumes_the_batch_dimension_is_found() {
    let failures = vmap_failures("suite::double_ignoring_batch_dim");
    assert!(
        failures.contains("mapped over `self`: failed: the batch rule of `suite::double_ignoring_batch_dim` returned"),
        "{failures}"
    );
}

#[test]
fn a_rule_that_writes_a_read_only_argument_is_found() {
    assert!(
        vmap_failures("suite::double_writing_its_argument")
            .contains("wrote to `self`, which its schema declares as read-only")
    );
}

#[test]
fn a_wrong_batch_rule_in_the_backward_pass_is_found() {
    assert!(vmap_failures("suite::double_with_wrong_backward").contains("gradients: result 0 has"));
}

#[test]
fn loops_and_composites_do_not_count_as_batch_rules() {
    let with_rules = |operator| run_batch_check(operator, Check::BatchRules).fully_passed_count(Check::BatchRules);
    assert_eq!(
        [
            with_rules("suite::double_with_correct_rule"),
            with_rules("suite::double_without_rule"),
            with_rules("suite::composite_double")
        ],
        [1, 0, 0]
    );
    let report = run_batch_check("suite::double_without_rule", Check::BatchRules);
    assert_eq!(
        report.not_applicable_checks().iter().map(|(_, _, why)| *why).collect::<Vec<_>>(),
        ["it runs as a loop over slices"]
    );
}
