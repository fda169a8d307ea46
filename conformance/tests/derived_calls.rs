//! Tests of the derived checks (in place, `out`, layouts, mistakes, Meta): operators with a switchable fault must fail them.
#![allow(missing_docs, reason = "the operators are for these tests alone")]

use std::cell::Cell;

use conformance::{Array, Call, Check, Datum, Report, Suite};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Geometry, Spec, Value};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    Nothing,
    WritesNothing,
    WritesElsewhere,
    AcceptsOverlap,
    AcceptsAnyShape,
    AcceptsAnyDType,
    NamesNothing,
    WritesSideBySide,
    ReadsSideBySide,
    PlansOtherStrides,
    PlansOtherDType,
}

thread_local! {
    /// The fault of all operators of this test. It is per thread, because the suite makes its calls on the calling thread.
    static FAULT: Cell<Fault> = const { Cell::new(Fault::Nothing) };
}

fn fault(fault: Fault) -> bool {
    FAULT.get() == fault
}

#[op_def("suite::add.Tensor(Tensor self, Tensor other) -> Tensor")]
pub fn add(this: &Tensor, other: &Tensor) -> Result<Tensor>;

#[op_def("suite::add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")]
pub fn add_(this: &mut Tensor, other: &Tensor) -> Result<()>;

#[op_def("suite::add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")]
pub fn add_out(this: &Tensor, other: &Tensor, out: &mut Tensor) -> Result<()>;

#[op_def("suite::flip(Tensor self, int dim) -> Tensor")]
pub fn flip(this: &Tensor, dim: i64) -> Result<Tensor>;

fn refuse<T>(why: &str, argument: &'static str) -> Result<T> {
    if fault(Fault::NamesNothing) {
        return Err(Error::kernel(format!("bad `{argument}`")));
    }
    Err(BadArgument::value(argument, why, "another").into())
}

fn array(tensor: &Tensor) -> Array {
    let Datum::Array(mut array) = Datum::read(&Value::from(tensor.clone())).unwrap() else { unreachable!() };
    if fault(Fault::ReadsSideBySide) {
        let memory = Tensor::new(tensor.storage().clone(), tensor.dtype(), whole(tensor)).unwrap();
        let Datum::Array(memory) = Datum::read(&Value::from(memory)).unwrap() else { unreachable!() };
        for (element, raw) in array.elements.iter_mut().zip(memory.elements) {
            *element = raw;
        }
    }
    array
}

fn whole(tensor: &Tensor) -> Geometry {
    Geometry::contiguous(&[i64::try_from(tensor.storage().size() / tensor.dtype().size()).unwrap()])
}

fn tensor(array: Array) -> Tensor {
    let Value::Tensor(tensor) = Datum::Array(array).to_value(Device::CPU).unwrap() else { unreachable!() };
    tensor
}

/// Returns the broadcast sizes of two tensors.
fn common(a: &[i64], b: &[i64]) -> Result<Vec<i64>> {
    let rank = a.len().max(b.len());
    let at = |sizes: &[i64], i: usize| (i + sizes.len()).checked_sub(rank).map_or(1, |i| sizes[i]);
    let sizes = (0..rank).map(|i| match (at(a, i), at(b, i)) {
        (1, size) | (size, 1) => Ok(size),
        (a, b) if a == b || fault(Fault::AcceptsAnyShape) => Ok(a.min(b)),
        _ => refuse("the sizes do not go together", "other"),
    });
    sizes.collect()
}

fn spread(array: &Array, sizes: &[i64]) -> Vec<f64> {
    let contiguous = array.contiguous();
    let missing = sizes.len() - array.sizes.len();
    let strides = (0..sizes.len())
        .map(|i| if i < missing || array.sizes[i - missing] == 1 { 0 } else { contiguous.strides[i - missing] });
    let walk = Array { sizes: sizes.to_vec(), strides: strides.collect(), ..contiguous };
    walk.places().into_iter().map(|place| walk.elements[place].to_f64().unwrap()).collect()
}

fn sum(this: &Tensor, other: &Tensor) -> Result<Array> {
    let sizes = common(this.sizes(), other.sizes())?;
    let (a, b) = (spread(&array(this), &sizes), spread(&array(other), &sizes));
    Ok(Array::new(this.dtype(), &sizes, a.iter().zip(b).map(|(a, b)| Scalar::Float(a + b)).collect()))
}

fn store(target: &Tensor, result: &Array) -> Result<()> {
    if fault(Fault::WritesNothing) {
        return Ok(());
    }
    if target.dtype() != DType::F32 {
        if fault(Fault::AcceptsAnyDType) {
            return Ok(());
        }
        return refuse("the dtype is another", "out");
    }
    let place = Array {
        sizes: target.sizes().to_vec(),
        strides: target.strides().to_vec(),
        offset: target.geometry().offset(),
        ..result.clone()
    };
    let places = if fault(Fault::WritesSideBySide) { place.contiguous().places() } else { place.places() };
    let mut memory = Tensor::new(target.storage().clone(), DType::F32, whole(target))?;
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
    if is_part && !fault(Fault::AcceptsOverlap) { refuse("the memory overlaps in part", name) } else { Ok(()) }
}

#[op_impl(add, CPU)]
fn add_cpu(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    sum(this, other).map(tensor)
}

#[op_impl(add_, CPU)]
fn add_in_place(this: &mut Tensor, other: &Tensor) -> Result<()> {
    refuse_overlap(this, other, "other")?;
    let result = sum(this, other)?;
    if fault(Fault::WritesElsewhere) {
        *this = tensor(result);
        return Ok(());
    }
    if result.sizes != this.sizes() && !fault(Fault::AcceptsAnyShape) {
        return refuse("the result has another shape", "self");
    }
    store(this, &result)
}

#[op_impl(add_out, CPU)]
fn add_into(this: &Tensor, other: &Tensor, out: &mut Tensor) -> Result<()> {
    refuse_overlap(out, this, "self")?;
    refuse_overlap(out, other, "other")?;
    let result = sum(this, other)?;
    if fault(Fault::WritesElsewhere) || out.geometry().count() == 0 {
        *out = tensor(result);
        return Ok(());
    }
    if result.sizes != out.sizes() && !fault(Fault::AcceptsAnyShape) {
        return refuse("the result has another shape", "out");
    }
    store(out, &result)
}

#[op_impl(add, Meta)]
fn add_meta(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let sizes = common(this.sizes(), other.sizes())?;
    let dtype = if fault(Fault::PlansOtherDType) { DType::F64 } else { this.dtype() };
    let columns = fault(Fault::PlansOtherStrides) && !this.geometry().is_contiguous();
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
    if !(-rank..rank).contains(&dim) && !fault(Fault::AcceptsAnyShape) {
        return refuse("no such dimension", "dim");
    }
    let mut result = array(this).contiguous();
    result.elements.reverse();
    Ok(tensor(result))
}

fn recorded(sizes: &str, strides: &str, elements: &[f64]) -> String {
    format!(r#"{{"tensor": {{"dtype": "f32", "shape": {sizes}, "strides": {strides}, "data": {elements:?}}}}}"#)
}

/// Recorded calls: sums of a matrix with itself and with a row, and the reverse of a vector.
fn calls() -> Vec<Call> {
    let numbers = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let matrix = recorded("[2, 3]", "[3, 1]", &numbers);
    let row = recorded("[3]", "[1]", &[10.0, 20.0, 30.0]);
    let twice = recorded("[2, 3]", "[3, 1]", &numbers.map(|x| x + x));
    let with_row = recorded("[2, 3]", "[3, 1]", &[11.0, 22.0, 33.0, 14.0, 25.0, 36.0]);
    let back = recorded("[3]", "[1]", &[30.0, 20.0, 10.0]);
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

fn run(fault: Fault) -> Report {
    FAULT.set(fault);
    Suite::new(Device::CPU).run_calls(&calls())
}

/// Checks that one check finds the fault, with a failure that contains `message`.
fn finds(fault: Fault, check: Check, message: &str) {
    let report = run(fault);
    let found =
        report.failed().iter().any(|failed| failed.check == check && failed.failure.to_string().contains(message));
    let all: Vec<String> = report.failed().iter().map(ToString::to_string).collect();
    assert!(found, "{fault:?}: {all:#?}");
}

#[test]
fn a_family_without_faults_passes_every_check() {
    let report = run(Fault::Nothing);
    let all: Vec<String> = report.failed().iter().map(ToString::to_string).collect();
    assert!(all.is_empty(), "{all:#?}");
    // Other tests have the faults of these checks: detects_gradients.rs, detects_batches.rs (batch rules), detects_large.rs,
    // detects_numbers.rs.
    let others = [
        Check::Twins,
        Check::Gradients,
        Check::InPlaceGradients,
        Check::Numeric,
        Check::BatchRules,
        Check::Large,
        Check::Numbers,
    ];
    for check in Check::ALL.into_iter().filter(|check| !others.contains(check)) {
        assert!(report.tally(check).passed > 0, "{check}");
    }
    // In-place checks of the first call: the value, the other argument as the written tensor, and an overlap. Of the second: the value. Of
    // the third: the refusal of another shape.
    assert_eq!(report.tally(Check::InPlace).passed, 5);
}

#[test]
fn a_twin_that_writes_nothing_or_elsewhere_is_found() {
    finds(Fault::WritesNothing, Check::InPlace, "in place: result 0 has 1.0 at 0, expected 2.0");
    finds(Fault::WritesNothing, Check::Out, "into `out`: result 0 has 77");
    finds(Fault::WritesElsewhere, Check::InPlace, "does not share the memory of `self`");
    finds(Fault::WritesElsewhere, Check::Out, "does not share the memory of `out`");
    finds(Fault::WritesSideBySide, Check::Out, "into a strided `out`: ");
}

#[test]
fn a_twin_that_accepts_mistakes_is_found() {
    finds(Fault::AcceptsOverlap, Check::InPlace, "accepted arguments that overlap in part");
    finds(Fault::AcceptsOverlap, Check::Out, "accepted an `out` that overlaps in part");
    finds(Fault::AcceptsAnyShape, Check::InPlace, "another shape");
    finds(Fault::AcceptsAnyShape, Check::Out, "an `out` of another shape");
    finds(Fault::AcceptsAnyDType, Check::Out, "accepted an `out` of a dtype");
}

#[test]
fn a_call_that_should_be_refused_and_is_not_is_found() {
    finds(Fault::AcceptsAnyShape, Check::Mistakes, "accepted shapes that do not go together");
    finds(Fault::AcceptsAnyShape, Check::Mistakes, "accepted a dimension that does not exist");
    finds(Fault::NamesNothing, Check::Mistakes, "does not name the argument: `suite::add.Tensor`: bad `other`");
}

#[test]
fn a_kernel_that_does_not_look_at_strides_is_found() {
    finds(Fault::ReadsSideBySide, Check::Layouts, "with arguments in column order: result 0 has");
    finds(Fault::ReadsSideBySide, Check::Layouts, "with arguments spread out in memory: result 0 has");
    finds(Fault::ReadsSideBySide, Check::Layouts, "with `self` broadcast: result 0 has");
}

#[test]
fn a_plan_that_differs_from_the_recording_or_the_backend_is_found() {
    finds(Fault::PlansOtherDType, Check::Meta, "is of float64, expected float32");
    finds(Fault::PlansOtherStrides, Check::Layouts, "on Meta: result 0 has strides [1, 1]");
}
