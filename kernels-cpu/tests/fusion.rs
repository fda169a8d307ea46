//! Tests of fusion with chains made by hand: a pass computes the results of its calls, or the chain is refused.

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{
    FusedKernel, FusionGroup, FusionStep, Geometry, KernelRecord, Location, Record, Registrar, Spec, StepArgument,
    keys, register,
};
use kernels_cpu as _;

fn shape(dtype: DType, sizes: &[i64]) -> Tensor {
    Spec::contiguous(dtype, sizes).on(Device::META).unwrap()
}

fn step(operator: &'static Operator, arguments: Vec<StepArgument>, result: &Tensor) -> FusionStep {
    FusionStep { operator, arguments, result: result.clone() }
}

fn value(number: usize) -> StepArgument {
    StepArgument::Value(number)
}

fn fixed(value: impl Into<Value>) -> StepArgument {
    StepArgument::Constant(value.into())
}

fn fuse(inputs: &[&Tensor], steps: Vec<FusionStep>, results: &[usize]) -> Option<Box<dyn FusedKernel>> {
    let inputs = inputs.iter().map(|&input| input.clone()).collect();
    Device::CPU.fuser().unwrap().fuse(&FusionGroup { inputs, steps, results: results.to_vec() })
}

/// Returns a step that adds two values.
fn sum(a: StepArgument, b: StepArgument, result: &Tensor) -> FusionStep {
    step(aten::add::operator(), vec![a, b, fixed(1)], result)
}

#[test]
fn a_chain_computes_what_its_calls_give() -> Result<()> {
    let (row, column, matrix) = (shape(DType::F32, &[3]), shape(DType::F32, &[2, 1]), shape(DType::F32, &[2, 3]));
    let steps = vec![
        sum(value(0), value(1), &matrix),
        step(aten::mul::operator(), vec![value(2), fixed(Tensor::number(2.into()))], &matrix),
        step(aten::neg::operator(), vec![value(3)], &matrix),
    ];
    let pass = fuse(&[&row, &column], steps, &[4, 2]).unwrap();
    let column = Tensor::from([10.0_f32, 20.0]).reshape(&[2, 1])?;
    let results = pass.run(&[&Tensor::from([1.0_f32, 2.0, 3.0]), &column])?.unwrap();
    let numbers: Vec<_> = results.iter().map(Tensor::to_vec::<f32>).collect::<Result<_>>()?;
    assert_eq!(numbers[0], [-22.0, -24.0, -26.0, -42.0, -44.0, -46.0]);
    assert_eq!(numbers[1], [11.0, 12.0, 13.0, 21.0, 22.0, 23.0]);
    Ok(())
}

#[test]
fn values_are_used_after_they_are_there() {
    let x = shape(DType::F32, &[4]);
    let neg = |from| step(aten::neg::operator(), vec![value(from)], &x);
    assert!(fuse(&[&x], vec![neg(0), neg(1)], &[2]).is_some());
    for (first, second) in [(1, 0), (2, 0), (0, 2), (0, 3), (usize::MAX, 0), (0, usize::MAX)] {
        assert!(fuse(&[&x], vec![neg(first), neg(second)], &[2]).is_none(), "{first}, {second}");
    }
    assert!(fuse(&[], vec![neg(0)], &[0]).is_none());
}

#[test]
fn results_are_values_that_calls_give_each_of_them_once() {
    let x = shape(DType::F32, &[4]);
    let neg = |from| step(aten::neg::operator(), vec![value(from)], &x);
    assert!(fuse(&[&x], vec![neg(0), neg(1)], &[2, 1]).is_some());
    for results in [&[][..], &[0], &[3], &[usize::MAX], &[2, 2], &[2, 0]] {
        assert!(fuse(&[&x], vec![neg(0), neg(1)], results).is_none(), "{results:?}");
    }
    assert!(fuse(&[&x], Vec::new(), &[]).is_none());
}

#[test]
fn sizes_are_those_that_the_calls_give() {
    let of = |sizes: &[i64]| shape(DType::F32, sizes);
    let cases: [(&[i64], &[i64], &[i64]); 9] = [
        // A result with elements that an input does not have.
        (&[3], &[3], &[1000]),
        (&[3], &[2], &[1000]),
        (&[1], &[1], &[1000]),
        // As many elements, but other sizes.
        (&[6], &[6], &[2, 3]),
        (&[3, 2], &[3, 2], &[2, 3]),
        // An input with more dimensions than the result.
        (&[1, 4], &[4], &[4]),
        (&[4], &[1, 1, 1], &[4]),
        // A result with fewer elements.
        (&[1000], &[1000], &[1]),
        // Almost as many elements as sizes can express.
        (&[1 << 58, 2], &[1 << 58, 4], &[1 << 58, 3]),
    ];
    for (a, b, result) in cases {
        let (a, b, result) = (of(a), of(b), of(result));
        assert!(fuse(&[&a, &b], vec![sum(value(0), value(1), &result)], &[2]).is_none(), "{a:?}, {b:?}: {result:?}");
    }
    let (few, many) = (of(&[4]), of(&[2, 4]));
    let steps = vec![sum(value(0), value(0), &few), sum(value(1), value(1), &many)];
    assert!(fuse(&[&few], steps, &[2]).is_none());
    // A broadcast shape has fewer elements in memory than its sizes say.
    let stretched = of(&[1]).restride(Geometry::strided(&[1000], &[0], 0).unwrap()).unwrap();
    let pass = fuse(&[&stretched], vec![sum(value(0), value(0), &stretched)], &[1]).unwrap();
    assert!(pass.run(&[&Tensor::from([1.0_f32])]).unwrap().is_none());
}

#[test]
fn dtypes_are_those_that_the_calls_give() {
    let [f32, f64, i64, bool] = [DType::F32, DType::F64, DType::I64, DType::Bool].map(|dtype| shape(dtype, &[4]));
    for (input, result) in [(&f32, &f64), (&f32, &bool), (&f64, &f32), (&i64, &f32), (&bool, &i64)] {
        assert!(fuse(&[input], vec![sum(value(0), value(0), result)], &[1]).is_none());
    }
    assert!(fuse(&[&f32], vec![step(aten::exp::operator(), vec![value(0)], &f32)], &[1]).is_some());
    assert!(fuse(&[&i64], vec![step(aten::exp::operator(), vec![value(0)], &i64)], &[1]).is_none());
}

#[test]
fn arguments_are_those_of_the_operator() {
    let x = shape(DType::F32, &[4]);
    let one = |arguments| fuse(&[&x], vec![step(aten::add::operator(), arguments, &x)], &[1]);
    assert!(one(vec![value(0), value(0), fixed(1)]).is_some());
    for arguments in [
        vec![],
        vec![value(0), value(0)],
        vec![value(0), value(0), fixed(1), fixed(1)],
        vec![value(0), value(0), value(0)],
        vec![value(0), fixed(1), fixed(1)],
        vec![value(0), fixed(Value::None), fixed(1)],
        vec![fixed(Value::None), value(0), fixed(1)],
        vec![value(0), value(0), fixed(Value::None)],
    ] {
        assert!(one(arguments).is_none());
    }
}

#[test]
fn shapes_are_shapes_and_numbers_have_an_element() {
    let (x, real) = (shape(DType::F32, &[4]), Tensor::from([1.0_f32; 4]));
    assert!(fuse(&[&real], vec![sum(value(0), value(0), &x)], &[1]).is_none());
    assert!(fuse(&[&x], vec![sum(value(0), value(0), &real)], &[1]).is_none());
    let with = |number: &Tensor| fuse(&[&x], vec![sum(value(0), fixed(number), &x)], &[1]);
    let held = Tensor::from([1.0_f32]);
    assert!(with(&held).is_some());
    for other in [real.clone(), shape(DType::F32, &[1]), shape(DType::F32, &[]), Tensor::from([0.0_f32; 0])] {
        assert!(with(&other).is_none(), "{other:?}");
    }
    let hidden = held.out_of_reach(held.keys());
    assert!(with(&hidden).is_none());
    let mut writer = held.clone();
    let guard = writer.write::<f32>().unwrap();
    assert!(with(&held).is_none());
    drop(guard);
}

#[test]
fn a_fixed_number_is_what_it_was() -> Result<()> {
    let x = shape(DType::F32, &[2]);
    let mut number = Tensor::from([1.0_f32]);
    let pass = fuse(&[&x], vec![sum(value(0), fixed(&number), &x)], &[1]).unwrap();
    number.write::<f32>()?[0] = 5.0;
    let guard = number.write::<f32>()?;
    assert_eq!(pass.run(&[&Tensor::from([1.0_f32, 2.0])])?.unwrap()[0].to_vec::<f32>()?, [2.0, 3.0]);
    drop(guard);
    Ok(())
}

#[test]
fn inputs_are_what_they_were_said_to_be() -> Result<()> {
    let x = shape(DType::F32, &[2, 3]);
    let pass = fuse(&[&x, &x], vec![sum(value(0), value(1), &x)], &[2]).unwrap();
    let fits = Tensor::from([[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    assert!(pass.run(&[&fits, &fits])?.is_some());
    assert!(pass.run(&[&fits])?.is_none() && pass.run(&[])?.is_none() && pass.run(&[&fits, &fits, &fits])?.is_none());
    let base = Tensor::from([0.0_f32; 4]);
    let others = [
        Tensor::from([1.0_f32; 6]),
        Tensor::from([1.0_f32]),
        fits.t()?,
        fits.to(DType::F64)?,
        x.clone(),
        base.restride(Geometry::strided(&[2, 3], &[0, 1], 0).unwrap())?,
        base.restride(Geometry::strided(&[2, 3], &[1, 0], 1).unwrap())?,
        fits.out_of_reach(fits.keys()),
    ];
    for other in &others {
        assert!(pass.run(&[&fits, other])?.is_none(), "{other:?}");
    }
    let (read, mut written) = (fits.clone(), fits.clone());
    let guard = written.write::<f32>()?;
    assert!(pass.run(&[&fits, &read])?.is_none());
    drop(guard);
    Ok(())
}

#[test]
fn what_is_large_is_no_reason_to_take_memory_for_it() {
    let deep = shape(DType::F64, &[2; 59]);
    let pass = fuse(&[&deep], vec![sum(value(0), value(0), &deep)], &[1]).unwrap();
    assert!(pass.run(&[&deep]).unwrap().is_none());
    let x = shape(DType::F32, &[4]);
    let steps = (0..10_000).map(|at| sum(value(at), fixed(Tensor::number(2.into())), &x));
    assert!(fuse(&[&x], steps.collect(), &[10_000]).is_none());
}

#[test]
fn a_kernel_in_the_file_of_the_known_one_is_not_taken_for_it() {
    let operator = aten::erfc::operator();
    let x = shape(DType::F32, &[4]);
    let one = || fuse(&[&x], vec![step(operator, vec![value(0)], &x)], &[1]);
    assert!(one().is_some());
    let registered = operator.registrations();
    let file = registered.iter().find(|kernel| kernel.site.key == keys::CPU).unwrap().site.location.file();
    let other = KernelRecord::boxed::<aten::erfc>(
        |_, _, _| Err(Error::kernel("another kernel")),
        &[&keys::CPU],
        "another",
        Location::new(file, 1),
    );
    let records: &'static [Record] = Box::leak(Box::new([Record::Kernel(Box::leak(Box::new(other.overriding())))]));
    register(records);
    assert!(one().is_none());
}

#[test]
fn a_composite_that_was_replaced_is_not_taken_for_it() {
    let operator = aten::_to_copy::operator();
    let (from, to) = (shape(DType::F32, &[4]), shape(DType::F64, &[4]));
    let none = || fixed(Value::None);
    let arguments = || vec![value(0), fixed(DType::F64), none(), none(), none(), fixed(false), none()];
    let one = || fuse(&[&from], vec![step(operator, arguments(), &to)], &[1]);
    assert!(one().is_some());
    let mine = Registrar::new("aten").kernel("_to_copy", keys::CPU, |_, _, _| Err(Error::kernel("mine"))).unwrap();
    assert!(one().is_none());
    mine.remove();
    assert!(one().is_some());
}
