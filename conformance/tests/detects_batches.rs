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
    right "suite::right(Tensor self) -> Tensor" right_any right_batched => |_batch, this| {
        Ok(Mapped::from_batch_first(right(&this.batch_first()?)?))
    };
    first_slice "suite::first_slice(Tensor self) -> Tensor" first_slice_any first_slice_batched => |_batch, this| {
        Ok(Mapped::same_for_all(first_slice(&aten::select_int(&this.batch_first()?, 0, 0)?)?))
    };
    wherever "suite::wherever(Tensor self) -> Tensor" wherever_any wherever_batched => |_batch, this| {
        Ok(Mapped::from_batch_first(wherever(this.tensor())?))
    };
    sum_of_all "suite::sum_of_all(Tensor self) -> Tensor" sum_of_all_any sum_of_all_batched => |_batch, this| {
        let front = this.batch_first()?;
        Ok(Mapped::from_batch_first(aten::add(&front, &aten::mean_dim(&front, Some(&[0]), true, None)?, Scalar::Int(1))?))
    };
    shared "suite::shared(Tensor self) -> Tensor" shared_any shared_batched => |_batch, this| {
        let mut front = this.batch_first()?;
        aten::mul__scalar(&mut front, Scalar::Int(2))?;
        Ok(Mapped::from_batch_first(front))
    };
}

/// An operator with a correct forward pass, whose gradient formula calls an operator with a wrong batch rule.
#[op_def("suite::wrong_way(Tensor self) -> Tensor")]
pub fn wrong_way(this: &Tensor) -> Result<Tensor>;

#[op_impl(wrong_way, CompositeExplicitAutograd)]
fn wrong_way_any(this: &Tensor) -> Result<Tensor> {
    aten::add(this, this, Scalar::Int(1))
}

#[op_grad(wrong_way)]
fn wrong_way_back(grad: &Tensor) -> Result<Tensor> {
    sum_of_all(grad)
}

#[op_def("suite::looped(Tensor self) -> Tensor")]
pub fn looped(this: &Tensor) -> Result<Tensor>;

#[op_impl(looped, CompositeExplicitAutograd)]
fn looped_any(this: &Tensor) -> Result<Tensor> {
    aten::add(this, this, Scalar::Int(1))
}

#[op_def("suite::in_parts(Tensor self) -> Tensor")]
pub fn in_parts(this: &Tensor) -> Result<Tensor> {
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
fn a_right_rule_passes() {
    for operator in ["suite::right", "suite::looped", "suite::in_parts"] {
        assert_eq!(failures(operator), "");
    }
}

#[test]
fn a_rule_that_is_blind_to_slices_is_found() {
    assert!(failures("suite::first_slice").contains("mapped over `self`: result 0 has"));
    assert!(failures("suite::sum_of_all").contains("mapped over `self`: result 0 has"));
}

#[test]
fn a_rule_that_expects_the_batch_in_one_place_is_found() {
    let failures = failures("suite::wherever");
    assert!(failures.contains("mapped over `self`: failed: the batch rule of `suite::wherever` gave"), "{failures}");
}

#[test]
fn a_rule_that_writes_what_it_should_read_is_found() {
    assert!(failures("suite::shared").contains("wrote to `self`, which its schema only reads"));
}

#[test]
fn a_wrong_rule_on_the_way_back_is_found() {
    assert!(failures("suite::wrong_way").contains("gradients: result 0 has"));
}

#[test]
fn loops_and_parts_are_no_rules() {
    let with_rules = |operator| run(operator, Check::BatchRules).wholly(Check::BatchRules);
    assert_eq!([with_rules("suite::right"), with_rules("suite::looped"), with_rules("suite::in_parts")], [1, 0, 0]);
    let report = run("suite::looped", Check::BatchRules);
    assert_eq!(report.left_out().iter().map(|(_, _, why)| *why).collect::<Vec<_>>(), ["it is a loop over slices"]);
}
