//! Tests of fusion with chains made by hand: a pass computes the results of its calls, or the chain is refused.

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{
    FusedKernel, FusionGroup, FusionStep, Geometry, KernelRecord, Location, Record, Registrar, Spec, StepArgument,
    keys, register,
};
use kernels_cpu as _;

fn meta_tensor(dtype: DType, sizes: &[i64]) -> Tensor {
    Spec::contiguous(dtype, sizes).on(Device::META).unwrap()
}

fn fusion_step(operator: &'static Operator, arguments: Vec<StepArgument>, result: &Tensor) -> FusionStep {
    FusionStep { operator, arguments, result: result.clone() }
}

fn value_argument(number: usize) -> StepArgument {
    StepArgument::Value(number)
}

fn constant_argument(value: impl Into<Value>) -> StepArgument {
    StepArgument::Constant(value.into())
}

fn fuse_steps_on_cpu(inputs: &[&Tensor], steps: Vec<FusionStep>, results: &[usize]) -> Option<Box<dyn FusedKernel>> {
    let inputs = inputs.iter().map(|&input| input.clone()).collect();
    Device::CPU.fuser().unwrap().fuse(&FusionGroup { inputs, steps, results: results.to_vec() })
}

/// Returns a step that adds two values.
fn addition_step(a: StepArgument, b: StepArgument, result: &Tensor) -> FusionStep {
    fusion_step(aten::add::operator(), vec![a, b, constant_argument(1)], result)
}

#[test]
fn a_pass_computes_the_results_of_its_calls() -> Result<()> {
    let (row, column, matrix) =
        (meta_tensor(DType::F32, &[3]), meta_tensor(DType::F32, &[2, 1]), meta_tensor(DType::F32, &[2, 3]));
    let steps = vec![
        addition_step(value_argument(0), value_argument(1), &matrix),
        fusion_step(
            aten::mul::operator(),
            vec![value_argument(2), constant_argument(Tensor::number(2.into()))],
            &matrix,
        ),
        fusion_step(aten::neg::operator(), vec![value_argument(3)], &matrix),
    ];
    let pass = fuse_steps_on_cpu(&[&row, &column], steps, &[4, 2]).unwrap();
    let column = Tensor::from([10.0_f32, 20.0]).reshape([2, 1])?;
    let results = pass.run(&[&Tensor::from([1.0_f32, 2.0, 3.0]), &column])?.unwrap();
    let numbers: Vec<_> = results.iter().map(Tensor::to_vec::<f32>).collect::<Result<_>>()?;
    assert_eq!(numbers[0], [-22.0, -24.0, -26.0, -42.0, -44.0, -46.0]);
    assert_eq!(numbers[1], [11.0, 12.0, 13.0, 21.0, 22.0, 23.0]);
    Ok(())
}

#[test]
fn chains_that_use_later_values_are_rejected() {
    let x = meta_tensor(DType::F32, &[4]);
    let neg = |from| fusion_step(aten::neg::operator(), vec![value_argument(from)], &x);
    assert!(fuse_steps_on_cpu(&[&x], vec![neg(0), neg(1)], &[2]).is_some());
    for (first, second) in [(1, 0), (2, 0), (0, 2), (0, 3), (usize::MAX, 0), (0, usize::MAX)] {
        assert!(fuse_steps_on_cpu(&[&x], vec![neg(first), neg(second)], &[2]).is_none(), "{first}, {second}");
    }
    assert!(fuse_steps_on_cpu(&[], vec![neg(0)], &[0]).is_none());
}

#[test]
fn chains_return_distinct_results_of_calls() {
    let x = meta_tensor(DType::F32, &[4]);
    let neg = |from| fusion_step(aten::neg::operator(), vec![value_argument(from)], &x);
    assert!(fuse_steps_on_cpu(&[&x], vec![neg(0), neg(1)], &[2, 1]).is_some());
    for results in [&[][..], &[0], &[3], &[usize::MAX], &[2, 2], &[2, 0]] {
        assert!(fuse_steps_on_cpu(&[&x], vec![neg(0), neg(1)], results).is_none(), "{results:?}");
    }
    assert!(fuse_steps_on_cpu(&[&x], Vec::new(), &[]).is_none());
}

#[test]
fn chains_with_wrong_sizes_are_rejected() {
    let of = |sizes: &[i64]| meta_tensor(DType::F32, sizes);
    let cases: [(&[i64], &[i64], &[i64]); 9] = [
        // A result with elements that an input does not have.
        (&[3], &[3], &[1000]),
        (&[3], &[2], &[1000]),
        (&[1], &[1], &[1000]),
        // A result with as many elements, but other sizes.
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
        assert!(
            fuse_steps_on_cpu(&[&a, &b], vec![addition_step(value_argument(0), value_argument(1), &result)], &[2])
                .is_none(),
            "{a:?}, {b:?}: {result:?}"
        );
    }
    let (few, many) = (of(&[4]), of(&[2, 4]));
    let steps = vec![
        addition_step(value_argument(0), value_argument(0), &few),
        addition_step(value_argument(1), value_argument(1), &many),
    ];
    assert!(fuse_steps_on_cpu(&[&few], steps, &[2]).is_none());
    // A broadcast shape has fewer elements in memory than its sizes say.
    let stretched = of(&[1]).restride(Geometry::strided(&[1000], &[0], 0).unwrap()).unwrap();
    let pass =
        fuse_steps_on_cpu(&[&stretched], vec![addition_step(value_argument(0), value_argument(0), &stretched)], &[1])
            .unwrap();
    assert!(pass.run(&[&Tensor::from([1.0_f32])]).unwrap().is_none());
}

#[test]
fn chains_with_wrong_dtypes_are_rejected() {
    let [f32, f64, i64, bool] = [DType::F32, DType::F64, DType::I64, DType::Bool].map(|dtype| meta_tensor(dtype, &[4]));
    for (input, result) in [(&f32, &f64), (&f32, &bool), (&f64, &f32), (&i64, &f32), (&bool, &i64)] {
        assert!(
            fuse_steps_on_cpu(&[input], vec![addition_step(value_argument(0), value_argument(0), result)], &[1])
                .is_none()
        );
    }
    assert!(
        fuse_steps_on_cpu(&[&f32], vec![fusion_step(aten::exp::operator(), vec![value_argument(0)], &f32)], &[1])
            .is_some()
    );
    assert!(
        fuse_steps_on_cpu(&[&i64], vec![fusion_step(aten::exp::operator(), vec![value_argument(0)], &i64)], &[1])
            .is_none()
    );
}

#[test]
fn chains_with_wrong_arguments_are_rejected() {
    let x = meta_tensor(DType::F32, &[4]);
    let one = |arguments| fuse_steps_on_cpu(&[&x], vec![fusion_step(aten::add::operator(), arguments, &x)], &[1]);
    assert!(one(vec![value_argument(0), value_argument(0), constant_argument(1)]).is_some());
    for arguments in [
        vec![],
        vec![value_argument(0), value_argument(0)],
        vec![value_argument(0), value_argument(0), constant_argument(1), constant_argument(1)],
        vec![value_argument(0), value_argument(0), value_argument(0)],
        vec![value_argument(0), constant_argument(1), constant_argument(1)],
        vec![value_argument(0), constant_argument(Value::None), constant_argument(1)],
        vec![constant_argument(Value::None), value_argument(0), constant_argument(1)],
        vec![value_argument(0), value_argument(0), constant_argument(Value::None)],
    ] {
        assert!(one(arguments).is_none());
    }
}

#[test]
fn spec_tensors_must_be_on_meta_and_number_tensors_must_have_one_element() {
    let (x, real) = (meta_tensor(DType::F32, &[4]), Tensor::from([1.0_f32; 4]));
    assert!(fuse_steps_on_cpu(&[&real], vec![addition_step(value_argument(0), value_argument(0), &x)], &[1]).is_none());
    assert!(fuse_steps_on_cpu(&[&x], vec![addition_step(value_argument(0), value_argument(0), &real)], &[1]).is_none());
    let with = |number: &Tensor| {
        fuse_steps_on_cpu(&[&x], vec![addition_step(value_argument(0), constant_argument(number), &x)], &[1])
    };
    let held = Tensor::from([1.0_f32]);
    assert!(with(&held).is_some());
    for other in [real.clone(), meta_tensor(DType::F32, &[1]), meta_tensor(DType::F32, &[]), Tensor::from([0.0_f32; 0])]
    {
        assert!(with(&other).is_none(), "{other:?}");
    }
    let hidden = held.opaque_with_keys(held.keys());
    assert!(with(&hidden).is_none());
    let mut writer = held.clone();
    let guard = writer.write::<f32>().unwrap();
    assert!(with(&held).is_none());
    drop(guard);
}

#[test]
fn later_writes_do_not_change_fixed_numbers() -> Result<()> {
    let x = meta_tensor(DType::F32, &[2]);
    let mut number = Tensor::from([1.0_f32]);
    let pass =
        fuse_steps_on_cpu(&[&x], vec![addition_step(value_argument(0), constant_argument(&number), &x)], &[1]).unwrap();
    number.write::<f32>()?[0] = 5.0;
    let guard = number.write::<f32>()?;
    assert_eq!(pass.run(&[&Tensor::from([1.0_f32, 2.0])])?.unwrap()[0].to_vec::<f32>()?, [2.0, 3.0]);
    drop(guard);
    Ok(())
}

#[test]
fn a_pass_rejects_inputs_that_differ_from_their_specs() -> Result<()> {
    let x = meta_tensor(DType::F32, &[2, 3]);
    let pass =
        fuse_steps_on_cpu(&[&x, &x], vec![addition_step(value_argument(0), value_argument(1), &x)], &[2]).unwrap();
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
        fits.opaque_with_keys(fits.keys()),
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
fn large_chains_allocate_no_memory_before_they_are_rejected() {
    let deep = meta_tensor(DType::F64, &[2; 59]);
    let pass =
        fuse_steps_on_cpu(&[&deep], vec![addition_step(value_argument(0), value_argument(0), &deep)], &[1]).unwrap();
    assert!(pass.run(&[&deep]).unwrap().is_none());
    let x = meta_tensor(DType::F32, &[4]);
    let steps =
        (0..10_000).map(|at| addition_step(value_argument(at), constant_argument(Tensor::number(2.into())), &x));
    assert!(fuse_steps_on_cpu(&[&x], steps.collect(), &[10_000]).is_none());
}

#[test]
fn another_kernel_in_the_same_file_is_not_fused() {
    let operator = aten::erfc::operator();
    let x = meta_tensor(DType::F32, &[4]);
    let one = || fuse_steps_on_cpu(&[&x], vec![fusion_step(operator, vec![value_argument(0)], &x)], &[1]);
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
fn a_replaced_composite_is_not_fused() {
    let operator = aten::_to_copy::operator();
    let (from, to) = (meta_tensor(DType::F32, &[4]), meta_tensor(DType::F64, &[4]));
    let none = || constant_argument(Value::None);
    let arguments = || {
        vec![value_argument(0), constant_argument(DType::F64), none(), none(), none(), constant_argument(false), none()]
    };
    let one = || fuse_steps_on_cpu(&[&from], vec![fusion_step(operator, arguments(), &to)], &[1]);
    assert!(one().is_some());
    let mine = Registrar::new("aten").kernel("_to_copy", keys::CPU, |_, _, _| Err(Error::kernel("mine"))).unwrap();
    assert!(one().is_none());
    mine.remove();
    assert!(one().is_some());
}
