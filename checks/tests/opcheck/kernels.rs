//! Mistakes of kernels and plans: panics, wrong dtypes, wrong calls, Meta, and state.

use std::sync::atomic::{AtomicU32, Ordering};

use aten::prelude::*;
use dispatch_checks::{Check, Error};
use dispatch_runtime::Spec;
use dispatch_runtime::prelude::{DType, Device, Floating, Result, Tensor, op_def, op_impl};

use crate::{assert_finds, assert_passes, failing_report, map, matrix, vector};

#[op_def("opcheck::neg_of_doubles(Tensor self) -> Tensor")]
pub fn neg_of_doubles(this: &Tensor) -> Result<Tensor>;

#[op_impl(neg_of_doubles, CPU)]
fn neg_of_doubles_cpu(this: &Tensor) -> Result<Tensor> {
    let elements = this.to_vec::<f64>().expect("only doubles are supported");
    Ok(Tensor::from_vec(elements.into_iter().map(|x| -x).collect(), this.sizes())?)
}

#[test]
fn a_panic_on_a_wrong_dtype_is_found() {
    let text = failing_report(neg_of_doubles::operator(), &vector()).to_string();
    assert!(text.contains("changes: with `self` of int64: panicked: only doubles are supported"), "{text}");
    assert!(text.contains("to do: return an error in place of the panic"), "{text}");
}

#[op_def("opcheck::difference(Tensor self) -> Tensor")]
pub fn difference(this: &Tensor) -> Result<Tensor>;

#[op_impl(difference, CPU, dtypes(floating))]
fn difference_cpu<T: Floating>(this: &Tensor) -> Result<Tensor> {
    let elements = this.to_vec::<T>()?;
    let first = elements[0].to_f64();
    map::<T>(this, |x| x - first)
}

#[test]
fn a_panic_on_other_sizes_is_found() {
    assert_finds(difference::operator(), &vector(), "changes: with `self` of sizes [0]: panicked: index out of bounds");
}

#[op_def("opcheck::coarse_half(Tensor self) -> Tensor")]
pub fn coarse_half(this: &Tensor) -> Result<Tensor>;

#[op_impl(coarse_half, CPU, dtypes(floating))]
fn coarse_half_cpu<T: Floating>(this: &Tensor) -> Result<Tensor> {
    let error = if T::DTYPE == DType::BF16 { 1.0 } else { 0.0 };
    map::<T>(this, |x| x / 2.0 + error)
}

#[test]
fn a_dtype_with_wrong_results_is_found() {
    let text = failing_report(coarse_half::operator(), &matrix()).to_string();
    assert!(text.contains("changes: in bfloat16: result 0 has"), "{text}");
    assert!(!text.contains("in float16") && !text.contains("in float32"), "{text}");
}

#[op_def("opcheck::shortest_sum(Tensor self, Tensor other) -> Tensor")]
pub fn shortest_sum(this: &Tensor, other: &Tensor) -> Result<Tensor>;

#[op_impl(shortest_sum, CPU)]
fn shortest_sum_cpu(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let sums = this.to_vec::<f64>()?.into_iter().zip(other.to_vec::<f64>()?).map(|(x, y)| x + y);
    let sums: Vec<f64> = sums.collect();
    let count = i64::try_from(sums.len()).unwrap_or(0);
    let sizes = if this.geometry().count() == count { this.sizes().to_vec() } else { vec![count] };
    Ok(Tensor::from_vec(sums, &sizes)?)
}

#[test]
fn sizes_that_do_not_fit_and_are_not_refused_are_found() {
    assert_finds(
        shortest_sum::operator(),
        [&vector(), &vector()],
        "mistakes: accepted shapes that do not fit each other\n  to do: refuse such a call in the operator's plan",
    );
}

#[op_def("opcheck::row(Tensor self, int dim) -> Tensor")]
pub fn row(this: &Tensor, dim: i64) -> Result<Tensor>;

#[op_impl(row, CPU)]
fn row_cpu(this: &Tensor, dim: i64) -> Result<Tensor> {
    if !(0..2).contains(&dim) {
        return Err(dispatch_runtime::Error::kernel("no such dimension"));
    }
    map::<f64>(this, |x| x + if dim == 0 { 0.0 } else { 1.0 })
}

#[test]
fn an_error_that_does_not_name_the_argument_is_found() {
    assert_finds(
        row::operator(),
        (&matrix(), 1_i64),
        "mistakes: refused a dimension that does not exist with an error that does not name the argument",
    );
}

#[op_def("opcheck::neg_with_wrong_meta(Tensor self) -> Tensor")]
pub fn neg_with_wrong_meta(this: &Tensor) -> Result<Tensor>;

#[op_impl(neg_with_wrong_meta, CPU, dtypes(floating))]
fn neg_with_wrong_meta_cpu<T: Floating>(this: &Tensor) -> Result<Tensor> {
    map::<T>(this, |x| -x)
}

#[op_impl(neg_with_wrong_meta, Meta)]
fn neg_with_wrong_meta_meta(this: &Tensor) -> Result<Tensor> {
    Spec::contiguous(this.dtype(), &[&[1], this.sizes()].concat()).on(Device::META)
}

#[test]
fn a_meta_kernel_that_differs_is_found() {
    assert_finds(
        neg_with_wrong_meta::operator(),
        &vector(),
        "meta: result 0 has sizes [1, 3], expected [3]\n  to do: let the plan, or the kernel for Meta",
    );
}

#[op_def("opcheck::neg_refused_on_meta(Tensor self) -> Tensor")]
pub fn neg_refused_on_meta(this: &Tensor) -> Result<Tensor>;

#[op_impl(neg_refused_on_meta, CPU, dtypes(floating))]
fn neg_refused_on_meta_cpu<T: Floating>(this: &Tensor) -> Result<Tensor> {
    map::<T>(this, |x| -x)
}

#[op_impl(neg_refused_on_meta, Meta)]
fn neg_refused_on_meta_meta(this: &Tensor) -> Result<Tensor> {
    if this.sizes().contains(&0) {
        return Err(dispatch_runtime::Error::kernel("no elements"));
    }
    Spec::contiguous(this.dtype(), this.sizes()).on(Device::META)
}

#[test]
fn a_call_that_only_meta_refuses_is_found() {
    assert_finds(
        neg_refused_on_meta::operator(),
        &vector(),
        "changes: with `self` of sizes [0]: the kernel accepts the call, and Meta refuses it",
    );
}

#[op_def("opcheck::counting(Tensor self) -> Tensor")]
pub fn counting(this: &Tensor) -> Result<Tensor>;

#[op_impl(counting, CPU)]
fn counting_cpu(this: &Tensor) -> Result<Tensor> {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let calls = f64::from(CALLS.fetch_add(1, Ordering::Relaxed));
    map::<f64>(this, |x| x + calls)
}

#[test]
fn a_kernel_with_state_is_found() {
    let report = failing_report(counting::operator(), &vector());
    let text = report.to_string();
    assert!(text.contains("values: a second, equal call: result 0 has"), "{text}");
    assert!(
        text.contains("to do: write every element of the result, and compute it from the arguments alone"),
        "{text}"
    );
    // Other checks would only repeat the failure.
    assert_eq!(report.failed().count(), 1, "{text}");
}

#[op_def("opcheck::two_kernels(Tensor self) -> Tensor")]
pub fn two_kernels(this: &Tensor) -> Result<Tensor>;

#[op_impl(two_kernels, CPU)]
fn first_kernel(this: &Tensor) -> Result<Tensor> {
    map::<f64>(this, |x| x)
}

#[op_impl(two_kernels, CPU)]
fn second_kernel(this: &Tensor) -> Result<Tensor> {
    map::<f64>(this, |x| -x)
}

#[test]
fn two_kernels_for_one_key_are_found() {
    assert_finds(two_kernels::operator(), &vector(), "to do: keep one of the kernels, or write `override` on one");
}

#[op_def("opcheck::always_single(Tensor self) -> Tensor", shape = pointwise)]
pub fn always_single(this: &Tensor) -> Result<Tensor>;

#[op_impl(always_single, CPU, dtypes(floating))]
fn always_single_cpu<T: Floating>(this: &Tensor) -> Result<Tensor> {
    map::<T>(this, |x| -x)?.to(DType::F32)
}

#[test]
fn a_result_of_another_dtype_than_the_plan_is_one_failure_of_meta() {
    let report = failing_report(always_single::operator(), &matrix());
    let text = report.to_string();
    assert!(text.contains("meta: result 0 is of float64, expected float32"), "{text}");
    assert!(!text.contains("layouts: "), "{text}");
}

#[op_def("opcheck::without_meta(Tensor self) -> Tensor")]
pub fn without_meta(this: &Tensor) -> Result<Tensor>;

#[op_impl(without_meta, CPU, dtypes(floating))]
fn without_meta_cpu<T: Floating>(this: &Tensor) -> Result<Tensor> {
    map::<T>(this, |x| -x)
}

#[test]
fn required_checks_must_be_made() {
    let report = assert_passes(without_meta::operator(), &matrix());
    let unchecked: Vec<_> = report.unchecked().filter(|(check, _)| *check == Check::Meta).collect();
    assert!(matches!(&unchecked[..], [(_, reason)] if !reason.contains('\n') && reason.contains("Meta")), "{report}");
    let error = report.require([Check::Values, Check::Meta]).unwrap_err();
    assert!(matches!(&error, Error::NotChecked { checks, .. } if checks.len() == 1), "{error}");
    let text = error.to_string();
    assert!(text.starts_with("opcheck::without_meta(Tensor self) -> Tensor: required checks were not made"), "{text}");
    assert!(text.contains("\n  meta: no kernel of `opcheck::without_meta` for Meta"), "{text}");
    assert!(assert_passes(aten::neg::operator(), &matrix()).require([Check::Numeric, Check::Meta]).is_ok());
}
