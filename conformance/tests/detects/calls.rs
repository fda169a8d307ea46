//! Tests that the suite finds every mistake of a backend: each operator here makes one mistake.

#![allow(missing_docs, unreachable_pub, reason = "the operators are named after their mistakes")]

use std::sync::atomic::{AtomicU32, Ordering};

use conformance::{Array, Call, Check, Datum, Difference, Failure, OperatorState, Report, Suite, recorded_calls};
use dispatch_autograd::op_grad;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Geometry, Value};

fn to_array(tensor: &Tensor) -> Array {
    let Datum::Array(array) = Datum::from_value(&Value::from(tensor.clone())).unwrap() else { unreachable!() };
    array
}

fn to_tensor(array: Array) -> Tensor {
    let Value::Tensor(tensor) = Datum::Array(array).to_value(Device::CPU).unwrap() else { unreachable!() };
    tensor
}

/// Returns the negated argument. Its strides are those of a dense argument, as in the recordings.
fn negated(this: &Tensor) -> Array {
    let mut result = to_array(this);
    for element in &mut result.elements {
        *element = match *element {
            Scalar::Int(x) => Scalar::Int(x.wrapping_neg()),
            Scalar::Float(x) => Scalar::Float(-x),
            Scalar::Complex(x) => Scalar::Complex(-x),
            Scalar::Bool(x) => Scalar::Bool(x),
        };
    }
    result
}

#[op_def("suite::correct_neg(Tensor self) -> Tensor")]
pub fn correct_neg(this: &Tensor) -> Result<Tensor>;

#[op_impl(correct_neg, CPU)]
fn correct_neg_cpu(this: &Tensor) -> Result<Tensor> {
    Ok(to_tensor(Array { offset: 0, ..negated(this) }))
}

#[op_def("suite::inexact_neg(Tensor self) -> Tensor")]
pub fn inexact_neg(this: &Tensor) -> Result<Tensor>;

#[op_impl(inexact_neg, CPU)]
fn inexact_neg_cpu(this: &Tensor) -> Tensor {
    // The tolerance of `F16` and `BF16` allows the smaller error.
    negated_with_error(if matches!(this.dtype(), DType::F16 | DType::BF16) { 0.1 } else { 0.01 }, this)
}

fn negated_with_error(error: f64, this: &Tensor) -> Tensor {
    let mut result = negated(this);
    for element in &mut result.elements {
        match element {
            Scalar::Float(x) => *x += error,
            Scalar::Complex(x) => x.re += error,
            Scalar::Int(x) => *x = x.wrapping_add(1),
            Scalar::Bool(_) => {}
        }
    }
    to_tensor(result)
}

/// Returns a correct result the first time, and a larger error at each further call.
#[op_def("suite::drifting_neg(Tensor self) -> Tensor")]
pub fn drifting_neg(this: &Tensor) -> Result<Tensor>;

#[op_impl(drifting_neg, CPU)]
fn drifting_neg_cpu(this: &Tensor) -> Tensor {
    static CALL_COUNT: AtomicU32 = AtomicU32::new(0);
    negated_with_error(0.01 * f64::from(CALL_COUNT.fetch_add(1, Ordering::Relaxed)), this)
}

/// An operator whose gradient formula changes from call to call.
#[op_def("suite::neg_with_drifting_gradient(Tensor self) -> Tensor")]
pub fn neg_with_drifting_gradient(this: &Tensor) -> Result<Tensor>;

#[op_impl(neg_with_drifting_gradient, CPU)]
fn neg_with_drifting_gradient_cpu(this: &Tensor) -> Result<Tensor> {
    correct_neg_cpu(this)
}

#[op_grad(neg_with_drifting_gradient)]
fn neg_with_drifting_gradient_derivative(grad: &Tensor) -> Result<Tensor> {
    static CALL_COUNT: AtomicU32 = AtomicU32::new(0);
    aten::mul(grad, &Tensor::number(f64::from(CALL_COUNT.fetch_add(1, Ordering::Relaxed)).into()))
}

/// An operator whose gradient formula returns another error each time.
#[op_def("suite::neg_with_changing_refusal(Tensor self) -> Tensor")]
pub fn neg_with_changing_refusal(this: &Tensor) -> Result<Tensor>;

#[op_impl(neg_with_changing_refusal, CPU)]
fn neg_with_changing_refusal_cpu(this: &Tensor) -> Result<Tensor> {
    correct_neg_cpu(this)
}

#[op_grad(neg_with_changing_refusal)]
fn neg_with_changing_refusal_derivative(grad: &Tensor) -> Result<Tensor> {
    static CALL_COUNT: AtomicU32 = AtomicU32::new(0);
    Err(Error::kernel(format!("error {} for sizes {:?}", CALL_COUNT.fetch_add(1, Ordering::Relaxed), grad.sizes())))
}

/// An operator whose gradient formula always returns the same error.
#[op_def("suite::neg_with_constant_refusal(Tensor self) -> Tensor")]
pub fn neg_with_constant_refusal(this: &Tensor) -> Result<Tensor>;

#[op_impl(neg_with_constant_refusal, CPU)]
fn neg_with_constant_refusal_cpu(this: &Tensor) -> Result<Tensor> {
    correct_neg_cpu(this)
}

#[op_grad(neg_with_constant_refusal)]
fn neg_with_constant_refusal_derivative(grad: &Tensor) -> Result<Tensor> {
    Err(Error::kernel(format!("the same error for sizes {:?}", grad.sizes())))
}

/// A composite that reads an element on the host, without being marked as data-dependent.
#[op_def("suite::neg_reading_an_element(Tensor self) -> Tensor")]
pub fn neg_reading_an_element(this: &Tensor) -> Result<Tensor> {
    let positive = this.read::<f32>()?[0] > 0.0;
    if positive { correct_neg(this) } else { correct_neg(&correct_neg(this)?) }
}

#[op_def("suite::neg_of_wrong_dtype(Tensor self) -> Tensor")]
pub fn neg_of_wrong_dtype(this: &Tensor) -> Result<Tensor>;

#[op_impl(neg_of_wrong_dtype, CPU)]
fn neg_of_wrong_dtype_cpu(this: &Tensor) -> Result<Tensor> {
    Ok(to_tensor(negated(this).with_dtype(DType::C128)))
}

#[op_def("suite::neg_of_wrong_strides(Tensor self) -> Tensor")]
pub fn neg_of_wrong_strides(this: &Tensor) -> Result<Tensor>;

#[op_impl(neg_of_wrong_strides, CPU)]
fn neg_of_wrong_strides_cpu(this: &Tensor) -> Result<Tensor> {
    let negated = negated(this);
    Ok(to_tensor(Array { strides: negated.strides.iter().map(|stride| stride * 2).collect(), ..negated }))
}

#[op_def("suite::neg_without_kernel(Tensor self) -> Tensor")]
pub fn neg_without_kernel(this: &Tensor) -> Result<Tensor>;

#[op_def("suite::panicking_neg(Tensor self) -> Tensor")]
pub fn panicking_neg(this: &Tensor) -> Result<Tensor>;

#[op_impl(panicking_neg, CPU)]
fn panicking_neg_cpu(_: &Tensor) -> Result<Tensor> {
    panic!("test panic")
}

#[op_def("suite::failing_neg(Tensor self) -> Tensor")]
pub fn failing_neg(this: &Tensor) -> Result<Tensor>;

#[op_impl(failing_neg, CPU)]
fn failing_neg_cpu(_: &Tensor) -> Result<Tensor> {
    Err(Error::kernel("test error"))
}

#[op_def("suite::returns_its_argument(Tensor self) -> Tensor")]
pub fn returns_its_argument(this: &Tensor) -> Result<Tensor>;

#[op_impl(returns_its_argument, CPU)]
fn returns_its_argument_cpu(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[op_def("suite::neg_writing_its_argument(Tensor self) -> Tensor")]
pub fn neg_writing_its_argument(this: &Tensor) -> Result<Tensor>;

#[op_impl(neg_writing_its_argument, CPU)]
fn neg_writing_its_argument_cpu(this: &Tensor) -> Result<Tensor> {
    this.storage().bump_version();
    correct_neg_cpu(this)
}

#[op_def("suite::whole_view(Tensor(a) self) -> Tensor(a)")]
pub fn whole_view(this: &Tensor) -> Result<Tensor>;

#[op_impl(whole_view, CPU)]
fn whole_view_cpu(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[op_def("suite::copy_declared_as_view(Tensor(a) self) -> Tensor(a)")]
pub fn copy_declared_as_view(this: &Tensor) -> Result<Tensor>;

#[op_impl(copy_declared_as_view, CPU)]
fn copy_declared_as_view_cpu(this: &Tensor) -> Result<Tensor> {
    Ok(to_tensor(to_array(this)))
}

#[op_def("suite::zero_(Tensor(a!) self) -> Tensor(a!)")]
pub fn zero_(this: &mut Tensor) -> Result<()>;

#[op_impl(zero_, CPU)]
fn zero_cpu(this: &mut Tensor) -> Result<()> {
    let whole = i64::try_from(this.storage().size() / this.dtype().size()).unwrap();
    let mut flat = Tensor::new(this.storage().clone(), this.dtype(), Geometry::contiguous(&[whole]))?;
    flat.write::<f32>()?.fill(0.0);
    Ok(())
}

#[op_def("suite::zero_writing_nothing_(Tensor(a!) self) -> Tensor(a!)")]
pub fn zero_writing_nothing_(this: &mut Tensor) -> Result<()>;

#[op_impl(zero_writing_nothing_, CPU)]
fn zero_writing_nothing_cpu(_: &mut Tensor) -> Result<()> {
    Ok(())
}

/// Returns the recorded calls of `operator` as calls of `other`.
fn recorded_calls_as(operator: &str, other: &str) -> Vec<Call> {
    let calls = recorded_calls().unwrap().unwrap_or_default();
    let calls = calls.into_iter().filter(|call| call.operator == operator);
    calls.map(|call| Call { operator: other.to_owned(), ..call }).collect()
}

fn run_values_check(calls: &[Call]) -> Report {
    Suite::new(Device::CPU).only_check(Check::Values).run_calls(calls)
}

/// Returns the first failure of an operator, all of whose calls fail.
fn first_failure(recording: &str, operator: &str) -> Failure {
    let calls = calls_with_result(recording, operator);
    let report = run_values_check(&calls);
    assert_eq!(
        (report.operator_count(OperatorState::Failed), report.failed_checks().len()),
        (1, calls.len()),
        "{operator}"
    );
    report.into_failed_checks().remove(0).failure
}

/// Returns a call of `operator` with the result `out`.
fn calls_with_result(out: &str, operator: &str) -> Vec<Call> {
    let text =
        |data: &str| format!(r#"{{"tensor": {{"dtype": "f32", "shape": [2], "strides": [1], "data": {data}}}}}"#);
    let line = format!(
        r#"{{"op": "{operator}", "args": [{}], "kwargs": {{}}, "out": {}, "args_after": [{}], "kwargs_after": {{}}}}"#,
        text("[1.5, -2.5]"),
        text(out),
        text(if operator.ends_with('_') { out } else { "[1.5, -2.5]" }),
    );
    vec![Call::parse(&line).unwrap()]
}

const RECORDED_RESULT_OF_NEG: &str = "[-1.5, 2.5]";
const RESULT_EQUAL_TO_INPUT: &str = "[1.5, -2.5]";

#[test]
fn golden_a_correct_kernel_passes_and_an_inexact_one_fails_in_every_dtype() {
    let calls = recorded_calls_as("aten::neg", "suite::correct_neg");
    let report = run_values_check(&calls);
    assert!(report.failed_checks().is_empty(), "{}", report.failed_checks()[0]);
    assert_eq!(report.tally(Check::Values).passed, calls.len());

    let calls = recorded_calls_as("aten::neg", "suite::inexact_neg");
    let with_elements = calls.iter().filter(|call| !call.returned.to_string().contains("\"data\":[]")).count();
    assert_eq!(run_values_check(&calls).tally(Check::Values).failed, with_elements);
}

#[test]
fn a_graph_that_differs_from_its_call_is_found() {
    let trace = |operator| {
        Suite::new(Device::CPU).only_check(Check::Trace).run_calls(&calls_with_result(RECORDED_RESULT_OF_NEG, operator))
    };
    let failures =
        |operator| trace(operator).failed_checks().iter().map(|failed| failed.failure.to_string()).collect::<Vec<_>>();
    let tally = trace("suite::correct_neg").tally(Check::Trace);
    // The operator has no gradient formula.
    assert_eq!((tally.passed, tally.not_implemented), (6, 1));
    let found = failures("suite::drifting_neg");
    assert!(found.len() == 6 && found[0].starts_with("run again: result 0 has -1.48"), "{found:#?}");
    let found = failures("suite::neg_with_drifting_gradient");
    assert!(found.len() == 1 && found[0].starts_with("run under autograd: result 1 has"), "{found:#?}");
    assert_eq!(trace("suite::neg_with_constant_refusal").tally(Check::Trace).passed, 7);
    let found = failures("suite::neg_with_changing_refusal");
    let contains = |reason: &str| found[0].contains(reason);
    assert!(
        found.len() == 1
            && contains("run under autograd")
            && contains("call: failed: error 1")
            && contains("this: failed: error 2"),
        "{found:#?}"
    );
    // The suite does not list this operator as data-dependent.
    let found = failures("suite::neg_reading_an_element");
    assert!(found.len() == 1 && found[0].contains("reads elements while a function is traced"), "{found:#?}");
}

#[test]
fn missing_operators_and_kernels_are_not_implemented() {
    for operator in ["suite::neg_without_kernel", "suite::no_such_operator"] {
        let report = run_values_check(&calls_with_result(RECORDED_RESULT_OF_NEG, operator));
        assert_eq!(
            (report.operator_count(OperatorState::NotImplemented), report.failed_checks().len()),
            (1, 0),
            "{operator}"
        );
    }
}

#[test]
fn wrong_results_are_found() {
    use Difference::{DType, Elements, Strides};
    assert!(matches!(
        first_failure(RECORDED_RESULT_OF_NEG, "suite::inexact_neg"),
        Failure::WrongResult { index: 0, difference: Elements { first: 0, count: 2, .. } }
    ));
    assert!(matches!(
        first_failure(RECORDED_RESULT_OF_NEG, "suite::neg_of_wrong_dtype"),
        Failure::WrongResult { difference: DType { .. }, .. }
    ));
    assert!(matches!(
        first_failure(RECORDED_RESULT_OF_NEG, "suite::neg_of_wrong_strides"),
        Failure::WrongResult { difference: Strides { .. }, .. }
    ));
}

#[test]
fn panics_and_errors_are_failures_of_one_call() {
    assert!(
        matches!(first_failure(RECORDED_RESULT_OF_NEG, "suite::panicking_neg"), Failure::Panicked { message } if message == "test panic")
    );
    assert!(
        matches!(first_failure(RECORDED_RESULT_OF_NEG, "suite::failing_neg"), Failure::Refused(error) if error.to_string().contains("test error"))
    );
}

#[test]
fn memory_is_shared_only_as_the_schema_says() {
    assert!(
        run_values_check(&calls_with_result(RESULT_EQUAL_TO_INPUT, "suite::whole_view")).failed_checks().is_empty()
    );
    assert!(
        matches!(first_failure(RESULT_EQUAL_TO_INPUT, "suite::copy_declared_as_view"), Failure::MissingSharing { index: 0, argument } if argument == "self")
    );
    assert!(
        matches!(first_failure(RESULT_EQUAL_TO_INPUT, "suite::returns_its_argument"), Failure::UnexpectedSharing { index: 0, argument } if argument == "self")
    );
    assert!(
        matches!(first_failure(RECORDED_RESULT_OF_NEG, "suite::neg_writing_its_argument"), Failure::UnexpectedWrite { argument } if argument == "self")
    );
}

#[test]
fn written_arguments_are_compared() {
    assert!(run_values_check(&calls_with_result("[0.0, 0.0]", "suite::zero_")).failed_checks().is_empty());
    assert!(matches!(first_failure("[0.0, 0.0]", "suite::zero_writing_nothing_"), Failure::WrongResult { .. }));
    assert!(
        run_values_check(&calls_with_result(RESULT_EQUAL_TO_INPUT, "suite::zero_writing_nothing_"))
            .failed_checks()
            .is_empty()
    );
}

#[test]
fn a_failure_prints_the_arguments_that_repeat_it() {
    let report = run_values_check(&calls_with_result(RECORDED_RESULT_OF_NEG, "suite::panicking_neg"));
    let text = report.failed_checks()[0].to_string();
    assert!(text.contains("suite::panicking_neg, call 0, values: panicked: test panic"), "{text}");
    assert!(text.ends_with("--only suite::panicking_neg --call 0 --check values"), "{text}");
    assert!(report.to_string().contains("1 operators: 0 passed, 1 failed, 0 not implemented, 0 unchecked"), "{report}");
}
