//! Tests of the derived checks (in place, `out`, layouts, mistakes, Meta): operators with a switchable fault must fail them.
#![allow(missing_docs, unreachable_pub, reason = "only these tests use the operators")]

use std::cell::Cell;

use conformance::{Array, Call, Check, Datum, Report, Suite};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Geometry, Spec, Value};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    None,
    WritesNothing,
    ReplacesTheTensor,
    AcceptsOverlap,
    AcceptsAnyShape,
    AcceptsAnyDType,
    ErrorsWithoutName,
    WritesIgnoringStrides,
    ReadsIgnoringStrides,
    PlansOtherStrides,
    PlansOtherDType,
}

thread_local! {
    /// The fault of all operators of this test. It is per thread, because the suite makes its calls on the calling thread.
    static CURRENT_FAULT: Cell<Fault> = const { Cell::new(Fault::None) };
}

fn has_fault(fault: Fault) -> bool {
    CURRENT_FAULT.get() == fault
}

#[op_def("suite::add.Tensor(Tensor self, Tensor other) -> Tensor")]
pub fn add(this: &Tensor, other: &Tensor) -> Result<Tensor>;

#[op_def("suite::add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")]
pub fn add_(this: &mut Tensor, other: &Tensor) -> Result<()>;

#[op_def("suite::add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")]
pub fn add_out(this: &Tensor, other: &Tensor, out: &mut Tensor) -> Result<()>;

#[op_def("suite::flip(Tensor self, int dim) -> Tensor")]
pub fn flip(this: &Tensor, dim: i64) -> Result<Tensor>;

fn refuse_argument<T>(why: &str, argument: &'static str) -> Result<T> {
    if has_fault(Fault::ErrorsWithoutName) {
        return Err(Error::kernel(format!("bad `{argument}`")));
    }
    Err(BadArgument::value(argument, why, "another").into())
}

fn to_array(tensor: &Tensor) -> Array {
    let Datum::Array(mut array) = Datum::from_value(&Value::from(tensor.clone())).unwrap() else { unreachable!() };
    if has_fault(Fault::ReadsIgnoringStrides) {
        let memory = Tensor::new(tensor.storage().clone(), tensor.dtype(), storage_geometry(tensor)).unwrap();
        let Datum::Array(memory) = Datum::from_value(&Value::from(memory)).unwrap() else { unreachable!() };
        for (element, raw) in array.elements.iter_mut().zip(memory.elements) {
            *element = raw;
        }
    }
    array
}

fn storage_geometry(tensor: &Tensor) -> Geometry {
    Geometry::contiguous(&[i64::try_from(tensor.storage().size() / tensor.dtype().size()).unwrap()])
}

fn to_tensor(array: Array) -> Tensor {
    let Value::Tensor(tensor) = Datum::Array(array).to_value(Device::CPU).unwrap() else { unreachable!() };
    tensor
}

/// Returns the broadcast sizes of two tensors.
fn broadcast_sizes(a: &[i64], b: &[i64]) -> Result<Vec<i64>> {
    let rank = a.len().max(b.len());
    let at = |sizes: &[i64], i: usize| (i + sizes.len()).checked_sub(rank).map_or(1, |i| sizes[i]);
    let sizes = (0..rank).map(|i| match (at(a, i), at(b, i)) {
        (1, size) | (size, 1) => Ok(size),
        (a, b) if a == b || has_fault(Fault::AcceptsAnyShape) => Ok(a.min(b)),
        _ => refuse_argument("the sizes do not broadcast", "other"),
    });
    sizes.collect()
}

fn broadcast_elements(array: &Array, sizes: &[i64]) -> Vec<f64> {
    let contiguous = array.contiguous();
    let missing = sizes.len() - array.sizes.len();
    let strides = (0..sizes.len())
        .map(|i| if i < missing || array.sizes[i - missing] == 1 { 0 } else { contiguous.strides[i - missing] });
    let walk = Array { sizes: sizes.to_vec(), strides: strides.collect(), ..contiguous };
    walk.storage_indices().into_iter().map(|place| walk.elements[place].to_f64().unwrap()).collect()
}

fn add_arrays(this: &Tensor, other: &Tensor) -> Result<Array> {
    let sizes = broadcast_sizes(this.sizes(), other.sizes())?;
    let (a, b) = (broadcast_elements(&to_array(this), &sizes), broadcast_elements(&to_array(other), &sizes));
    Ok(Array::new(this.dtype(), &sizes, a.iter().zip(b).map(|(a, b)| Scalar::Float(a + b)).collect()))
}

fn write_result(target: &Tensor, result: &Array) -> Result<()> {
    if has_fault(Fault::WritesNothing) {
        return Ok(());
    }
    if target.dtype() != DType::F32 {
        if has_fault(Fault::AcceptsAnyDType) {
            return Ok(());
        }
        return refuse_argument("the dtype is another", "out");
    }
    let place = Array {
        sizes: target.sizes().to_vec(),
        strides: target.strides().to_vec(),
        offset: target.geometry().offset(),
        ..result.clone()
    };
    let places = if has_fault(Fault::WritesIgnoringStrides) {
        place.contiguous().storage_indices()
    } else {
        place.storage_indices()
    };
    let mut memory = Tensor::new(target.storage().clone(), DType::F32, storage_geometry(target))?;
    let mut memory = memory.write::<f32>()?;
    for (place, element) in places.into_iter().zip(&result.elements) {
        #[allow(clippy::cast_possible_truncation)]
        let element = element.to_f64().unwrap() as f32;
        memory[place] = element;
    }
    Ok(())
}

fn refuse_overlap(written: &Tensor, read: &Tensor, name: &'static str) -> Result<()> {
    let is_part = written.storage().same(read.storage()) && written.geometry() != read.geometry();
    if is_part && !has_fault(Fault::AcceptsOverlap) {
        refuse_argument("the memory overlaps in part", name)
    } else {
        Ok(())
    }
}

#[op_impl(add, CPU)]
fn add_cpu(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    add_arrays(this, other).map(to_tensor)
}

#[op_impl(add_, CPU)]
fn add_in_place_cpu(this: &mut Tensor, other: &Tensor) -> Result<()> {
    refuse_overlap(this, other, "other")?;
    let result = add_arrays(this, other)?;
    if has_fault(Fault::ReplacesTheTensor) {
        *this = to_tensor(result);
        return Ok(());
    }
    if result.sizes != this.sizes() && !has_fault(Fault::AcceptsAnyShape) {
        return refuse_argument("the result has another shape", "self");
    }
    write_result(this, &result)
}

#[op_impl(add_out, CPU)]
fn add_out_cpu(this: &Tensor, other: &Tensor, out: &mut Tensor) -> Result<()> {
    refuse_overlap(out, this, "self")?;
    refuse_overlap(out, other, "other")?;
    let result = add_arrays(this, other)?;
    if has_fault(Fault::ReplacesTheTensor) || out.geometry().count() == 0 {
        *out = to_tensor(result);
        return Ok(());
    }
    if result.sizes != out.sizes() && !has_fault(Fault::AcceptsAnyShape) {
        return refuse_argument("the result has another shape", "out");
    }
    write_result(out, &result)
}

#[op_impl(add, Meta)]
fn add_meta(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let sizes = broadcast_sizes(this.sizes(), other.sizes())?;
    let dtype = if has_fault(Fault::PlansOtherDType) { DType::F64 } else { this.dtype() };
    let columns = has_fault(Fault::PlansOtherStrides) && !this.geometry().is_contiguous();
    let geometry = if columns {
        Geometry::strided(&sizes, &vec![1; sizes.len()], 0).unwrap()
    } else {
        Geometry::contiguous(&sizes)
    };
    Spec { dtype, geometry }.on(Device::META)
}

#[op_impl(flip, CPU)]
fn flip_cpu(this: &Tensor, dim: i64) -> Result<Tensor> {
    let rank = i64::try_from(this.sizes().len()).unwrap();
    if !(-rank..rank).contains(&dim) && !has_fault(Fault::AcceptsAnyShape) {
        return refuse_argument("no such dimension", "dim");
    }
    let mut result = to_array(this).contiguous();
    result.elements.reverse();
    Ok(to_tensor(result))
}

fn tensor_json(sizes: &str, strides: &str, elements: &[f64]) -> String {
    format!(r#"{{"tensor": {{"dtype": "f32", "shape": {sizes}, "strides": {strides}, "data": {elements:?}}}}}"#)
}

/// Recorded calls: sums of a matrix with itself and with a row, and the reverse of a vector.
fn example_calls() -> Vec<Call> {
    let numbers = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let matrix = tensor_json("[2, 3]", "[3, 1]", &numbers);
    let row = tensor_json("[3]", "[1]", &[10.0, 20.0, 30.0]);
    let twice = tensor_json("[2, 3]", "[3, 1]", &numbers.map(|x| x + x));
    let with_row = tensor_json("[2, 3]", "[3, 1]", &[11.0, 22.0, 33.0, 14.0, 25.0, 36.0]);
    let back = tensor_json("[3]", "[1]", &[30.0, 20.0, 10.0]);
    let call = |operator: &str, arguments: [&str; 2], out: &str, number| {
        let arguments = arguments.join(", ");
        let line = format!(r#"{{"op": "{operator}", "args": [{arguments}], "kwargs": {{}}, "out": {out}}}"#);
        Call { number, ..Call::parse(&line).unwrap() }
    };
    vec![
        call("suite::add.Tensor", [&matrix, &matrix], &twice, 0),
        call("suite::add.Tensor", [&matrix, &row], &with_row, 1),
        call("suite::add.Tensor", [&row, &matrix], &with_row, 2),
        call("suite::flip", [&row, r#"{"int": 0}"#], &back, 0),
    ]
}

fn run_suite_with_fault(fault: Fault) -> Report {
    CURRENT_FAULT.set(fault);
    Suite::new(Device::CPU).run_calls(&example_calls())
}

/// Checks that one check finds the fault, with a failure that contains `message`.
fn assert_fault_is_found(fault: Fault, check: Check, message: &str) {
    let report = run_suite_with_fault(fault);
    let found = report
        .failed_checks()
        .iter()
        .any(|failed| failed.check == check && failed.failure.to_string().contains(message));
    let all: Vec<String> = report.failed_checks().iter().map(ToString::to_string).collect();
    assert!(found, "{fault:?}: {all:#?}");
}

#[test]
fn operators_without_faults_pass_every_check() {
    let report = run_suite_with_fault(Fault::None);
    let all: Vec<String> = report.failed_checks().iter().map(ToString::to_string).collect();
    assert!(all.is_empty(), "{all:#?}");
    // Other tests have the faults of these checks: detects_gradients.rs, detects_batches.rs (batch rules), detects_large.rs,
    // detects_numbers.rs.
    let others = [
        Check::Siblings,
        Check::Gradients,
        Check::InPlaceGradients,
        Check::Numeric,
        Check::BatchRules,
        Check::Large,
        Check::Numbers,
        // Only `opcheck` makes it, and its tests have the faults.
        Check::Changes,
    ];
    for check in Check::ALL.into_iter().filter(|check| !others.contains(check)) {
        assert!(report.tally(check).passed > 0, "{check}");
    }
    // In-place checks of the first call: the value, the other argument as the written tensor, and an overlap. Of the second: the value. Of
    // the third: the refusal of another shape.
    assert_eq!(report.tally(Check::InPlace).passed, 5);
}

#[test]
fn a_form_that_does_not_write_its_argument_is_found() {
    assert_fault_is_found(Fault::WritesNothing, Check::InPlace, "in place: result 0 has 1.0 at 0, expected 2.0");
    assert_fault_is_found(Fault::WritesNothing, Check::Out, "into `out`: result 0 has 77");
    assert_fault_is_found(Fault::ReplacesTheTensor, Check::InPlace, "does not share the memory of `self`");
    assert_fault_is_found(Fault::ReplacesTheTensor, Check::Out, "does not share the memory of `out`");
    assert_fault_is_found(Fault::WritesIgnoringStrides, Check::Out, "into a strided `out`: ");
}

#[test]
fn a_form_that_accepts_wrong_arguments_is_found() {
    assert_fault_is_found(Fault::AcceptsOverlap, Check::InPlace, "accepted arguments that overlap in part");
    assert_fault_is_found(Fault::AcceptsOverlap, Check::Out, "accepted an `out` that overlaps in part");
    assert_fault_is_found(Fault::AcceptsAnyShape, Check::InPlace, "another shape");
    assert_fault_is_found(Fault::AcceptsAnyShape, Check::Out, "an `out` of another shape");
    assert_fault_is_found(Fault::AcceptsAnyDType, Check::Out, "accepted an `out` of a dtype");
}

#[test]
fn an_operator_that_accepts_wrong_arguments_is_found() {
    assert_fault_is_found(Fault::AcceptsAnyShape, Check::Mistakes, "accepted shapes that do not fit each other");
    assert_fault_is_found(Fault::AcceptsAnyShape, Check::Mistakes, "accepted a dimension that does not exist");
    assert_fault_is_found(
        Fault::ErrorsWithoutName,
        Check::Mistakes,
        "does not name the argument: `suite::add.Tensor`: bad `other`",
    );
}

#[test]
fn a_kernel_that_ignores_strides_is_found() {
    assert_fault_is_found(
        Fault::ReadsIgnoringStrides,
        Check::Layouts,
        "with arguments in column-major order: result 0 has",
    );
    assert_fault_is_found(
        Fault::ReadsIgnoringStrides,
        Check::Layouts,
        "with gaps between the elements of arguments: result 0 has",
    );
    assert_fault_is_found(Fault::ReadsIgnoringStrides, Check::Layouts, "with `self` broadcast: result 0 has");
}

#[test]
fn a_plan_that_differs_from_the_recording_or_the_backend_is_found() {
    assert_fault_is_found(Fault::PlansOtherDType, Check::Meta, "is of float64, expected float32");
    assert_fault_is_found(Fault::PlansOtherStrides, Check::Layouts, "on Meta: result 0 has strides [1, 1]");
}
