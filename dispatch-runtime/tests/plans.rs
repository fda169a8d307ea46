//! Tests of plans: one kernel serves the functional operator and its forms, and Meta needs no kernel.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Device, Element, ErrorKind, Geometry, Plan, PlanList, Spec, operands};

#[op_def("mirror(Tensor self) -> Tensor", plan, inplace, out = "out")]
fn mirror(this: &Tensor) -> Result<Tensor>;

#[op_plan(mirror)]
fn mirror_plan(this: &Tensor) -> Result<Plan<usize>, BadArgument> {
    Ok(Plan::new(vector_length(this)?, [Spec::contiguous(this.dtype(), this.sizes())]))
}

#[op_impl(mirror, CPU, dtypes(f32, i64))]
fn mirror_cpu<T: Element>(plan: &usize, out: &mut Tensor, this: &Tensor) -> Result<()> {
    let values = this.to_vec::<T>()?;
    for (place, value) in out.write::<T>()?.iter_mut().zip(values.into_iter().rev().take(*plan)) {
        *place = value;
    }
    Ok(())
}

#[op_def("doubled(Tensor self) -> Tensor", plan, inplace, out = "out"(answer))]
fn doubled(this: &Tensor) -> Result<Tensor>;

#[op_plan(doubled)]
fn doubled_plan(this: &Tensor) -> Result<Plan<()>> {
    Ok(Plan::new((), [Spec::contiguous(this.dtype(), this.sizes())]))
}

#[op_impl(doubled, CPU, in_place)]
fn doubled_cpu(_plan: &(), out: &mut Tensor, this: &Tensor) -> Result<()> {
    if this.dtype() != DType::I64 {
        let (operator, dtype) = (doubled::operator().name(), this.dtype());
        return Err(ErrorKind::UnsupportedDType { operator, argument: "self", dtype, supported: &[DType::I64] }.into());
    }
    let taken = operands!(write out; read this)?;
    drop(taken);
    let values: Vec<i64> = this.to_vec()?;
    out.write::<i64>()?.iter_mut().zip(values).for_each(|(place, value)| *place = 2 * value);
    Ok(())
}

/// The operator that copies results to outputs which a kernel does not write directly.
#[op_def("assign_(Tensor(a!) self, Tensor src) -> Tensor(a!)", operator = Assign)]
fn assign_(this: &mut Tensor, src: &Tensor) -> Result<()>;

#[op_impl(assign_, CPU)]
fn assign_cpu(this: &mut Tensor, src: &Tensor) -> Result<()> {
    let mut values = src.to_vec::<i64>()?.into_iter();
    if this.dtype() == DType::F32 {
        let mut floats = values.map(|value| f32::from(i16::try_from(value).unwrap()));
        this.elements_mut::<f32>()?.for_each(|place| *place = floats.next().unwrap_or(0.0));
    } else {
        this.elements_mut::<i64>()?.for_each(|place| *place = values.next().unwrap_or(0));
    }
    Ok(())
}

/// Returns the number of elements of a vector.
fn vector_length(this: &Tensor) -> Result<usize, BadArgument> {
    match this.sizes() {
        [size] => Ok(usize::try_from(*size).unwrap_or(0)),
        sizes => Err(BadArgument::rank("self", sizes.len(), 1)),
    }
}

#[op_def("min_max(Tensor self, int skip=0) -> (Tensor min, Tensor max)", plan, out = "out")]
fn min_max(this: &Tensor, skip: i64) -> Result<(Tensor, Tensor)>;

#[op_plan(min_max)]
fn min_max_plan(this: &Tensor, skip: i64) -> Result<Plan<usize, 2>, BadArgument> {
    let (size, spec) = (vector_length(this)?, Spec::contiguous(this.dtype(), &[]));
    match usize::try_from(skip) {
        Ok(skip) if skip < size => Ok(Plan::new(skip, [spec.clone(), spec])),
        _ => Err(BadArgument::number("skip", skip, 0..=i64::try_from(size).unwrap_or(0) - 1)),
    }
}

#[op_impl(min_max, CPU)]
fn min_max_cpu(plan: &usize, [min, max]: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    let values = this.to_vec::<i64>()?;
    min.write::<i64>()?[0] = values[*plan..].iter().copied().min().unwrap_or(0);
    max.write::<i64>()?[0] = values[*plan..].iter().copied().max().unwrap_or(0);
    Ok(())
}

/// A kernel with a condition, which serves the functional operator and its form.
#[op_impl(min_max, CPU, when(this.sizes()[0] == 1), priority = 1)]
fn min_max_of_one(_plan: &usize, [min, max]: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    let value = this.to_vec::<i64>()?[0];
    min.write::<i64>()?[0] = value + 1000;
    max.write::<i64>()?[0] = value + 1000;
    Ok(())
}

#[op_def("split_vector(Tensor self, int size) -> Tensor[]", plan)]
fn split_vector(this: &Tensor, size: i64) -> Result<Vec<Tensor>>;

/// A plan's value that borrows from an argument.
struct InputSizes<'a> {
    sizes: &'a [i64],
}

#[op_plan(split_vector)]
fn split_vector_plan(this: &Tensor, size: i64) -> Result<PlanList<InputSizes<'_>>, BadArgument> {
    let count = vector_length(this)?;
    let Some(size) = usize::try_from(size).ok().filter(|size| *size > 0) else {
        return Err(BadArgument::number("size", size, 1..));
    };
    let outputs = (0..count).step_by(size).map(|start| (count - start).min(size));
    let outputs = outputs.map(|size| Spec::contiguous(this.dtype(), &[i64::try_from(size).unwrap_or(0)])).collect();
    Ok(PlanList { value: InputSizes { sizes: this.sizes() }, outputs })
}

#[op_impl(split_vector, CPU)]
fn split_vector_cpu(plan: &InputSizes<'_>, out: &mut [Tensor], this: &Tensor) -> Result<()> {
    let values = this.to_vec::<i64>()?;
    assert_eq!(plan.sizes, [i64::try_from(values.len()).unwrap()]);
    let mut values = values.into_iter();
    for piece in out {
        piece.write::<i64>()?.iter_mut().zip(&mut values).for_each(|(place, value)| *place = value);
    }
    Ok(())
}

#[op_def("add_number_(Tensor(a!) self, int by) -> Tensor(a!)", plan)]
fn add_number_(this: &mut Tensor, by: i64) -> Result<()>;

#[op_plan(add_number_)]
fn add_number_plan(this: &Tensor, by: i64) -> Result<Plan<i64, 0>, BadArgument> {
    vector_length(this)?;
    if by < 0 { Err(BadArgument::number("by", by, 0..)) } else { Ok(Plan::without_outputs(2 * by)) }
}

#[op_impl(add_number_, CPU)]
fn add_number_cpu(plan: &i64, this: &mut Tensor) -> Result<()> {
    this.write::<i64>()?.iter_mut().for_each(|value| *value += plan);
    Ok(())
}

#[op_def("select_positive(Tensor self) -> Tensor", plan, data_dependent)]
fn select_positive(this: &Tensor) -> Result<Tensor>;

#[op_plan(select_positive)]
fn select_positive_plan(this: &Tensor) -> Result<Plan<usize, 0>, BadArgument> {
    vector_length(this).map(Plan::without_outputs)
}

#[op_impl(select_positive, CPU)]
fn select_positive_cpu(_plan: &usize, this: &Tensor) -> Result<Tensor> {
    Ok(Tensor::from_slice(&this.to_vec::<i64>()?.into_iter().filter(|value| *value > 0).collect::<Vec<_>>()))
}

#[op_def("sum_and_count_calls(Tensor self, Tensor(a!)? seen) -> Tensor", plan)]
fn sum_and_count_calls(this: &Tensor, seen: Option<&mut Tensor>) -> Result<Tensor>;

#[op_plan(sum_and_count_calls)]
fn sum_and_count_plan(this: &Tensor, seen: Option<&Tensor>) -> Result<Plan<()>, BadArgument> {
    match seen {
        Some(seen) if seen.sizes() != [1] => Err(BadArgument::sizes("seen", seen.sizes(), &[1_i64][..])),
        _ => Ok(Plan::new((), [Spec::contiguous(this.dtype(), &[vector_length(this).map(|_| 1)?])])),
    }
}

#[op_impl(sum_and_count_calls, CPU)]
fn sum_and_count_cpu(_plan: &(), out: &mut Tensor, this: &Tensor, seen: Option<&mut Tensor>) -> Result<()> {
    let sum = this.to_vec::<i64>()?.iter().sum::<i64>();
    if let Some(seen) = seen {
        seen.write::<i64>()?[0] += 1;
    }
    out.write::<i64>()?[0] = sum;
    Ok(())
}

#[op_def("composite(Tensor self, Tensor other) -> Tensor", plan)]
fn composite(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    // An error of these calls names `mirror`'s argument `self`, even if the tensor is `other` of this operator.
    mirror(&mirror(this)?)?;
    mirror(other)
}

#[op_plan(composite)]
fn composite_plan(this: &Tensor, other: &Tensor) -> Result<Plan<()>, BadArgument> {
    vector_length(this)?;
    match other.sizes() {
        [_] => Ok(Plan::new((), [Spec::contiguous(other.dtype(), other.sizes())])),
        sizes => Err(BadArgument::rank("other", sizes.len(), 1)),
    }
}

fn int_vector(values: &[i64]) -> Tensor {
    Tensor::from_slice(values)
}

fn to_ints(tensor: &Tensor) -> Vec<i64> {
    tensor.to_vec::<i64>().unwrap()
}

fn meta_tensor(sizes: &[i64]) -> Tensor {
    Spec::contiguous(DType::I64, sizes).on(Device::META).unwrap()
}

fn two_by_two_matrix() -> Tensor {
    int_vector(&[1, 2, 3, 4]).restride(Geometry::contiguous(&[2, 2])).unwrap()
}

#[test]
fn one_kernel_serves_the_functional_operator_and_both_forms() {
    let x = int_vector(&[1, 2, 3]);
    assert_eq!(to_ints(&mirror(&x).unwrap()), [3, 2, 1]);

    let mut out = int_vector(&[0, 0, 0]);
    let alias = out.clone();
    mirror_out(&x, &mut out).unwrap();
    assert_eq!((to_ints(&out), out.same(&alias)), (vec![3, 2, 1], true));

    let mut y = x.clone();
    mirror_(&mut y).unwrap();
    assert_eq!(to_ints(&x), [3, 2, 1], "`x` shares the elements");

    let results = mirror::operator().call([x.into()]).unwrap();
    assert_eq!(to_ints(results[0].as_tensor().unwrap()), [1, 2, 3]);
}

#[test]
fn a_generic_kernel_rejects_other_dtypes() {
    assert_eq!(mirror(&Tensor::from_slice(&[1.0_f32, 2.0])).unwrap().to_vec::<f32>().unwrap(), [2.0, 1.0]);
    let error = mirror(&Tensor::from_slice(&[1.0_f64])).unwrap_err().to_string();
    assert!(error.contains("float64") && error.contains("float32, int64"), "{error}");
}

#[op_def("element_size(Tensor self, Tensor other) -> Tensor", shape = pointwise)]
fn element_size(this: &Tensor, other: &Tensor) -> Result<Tensor>;

#[op_impl(element_size, CPU, dtypes(all))]
fn element_size_cpu<T: Element>(this: &Tensor, _other: &Tensor) -> Result<Tensor> {
    let size = i64::try_from(size_of::<T>()).unwrap_or(0);
    Ok(Tensor::from_vec(vec![size; this.to_vec::<i32>()?.len()], this.sizes())?)
}

#[op_def("first_element_size(Tensor self, Tensor other) -> Tensor", shape = pointwise)]
fn first_element_size(this: &Tensor, other: &Tensor) -> Result<Tensor>;

#[op_impl(first_element_size, CPU, dtypes(all), by = this)]
fn first_element_size_cpu<T: Element>(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    element_size_cpu::<T>(this, other)
}

#[test]
fn operands_of_an_elementwise_operator_promote_to_the_dtype_of_a_generic_kernel() {
    let ints = Tensor::from([1, 2]);
    let size = |other: &Tensor| to_ints(&element_size(&ints, other).unwrap())[0];
    assert_eq!([size(&ints), size(&Tensor::from([1.0; 2])), size(&Tensor::from([1_u8; 2]))], [4, 8, 4]);
    // A number of the same category does not change the dtype.
    assert_eq!(size(&Tensor::number(2.into())), 4);
    // With `by`, one argument decides.
    assert_eq!(to_ints(&first_element_size(&ints, &Tensor::from([1.0; 2])).unwrap()), [4, 4]);
}

#[test]
fn an_error_of_a_kernel_names_the_form_and_its_argument() {
    let (x, held) = (int_vector(&[1, 2, 3]), int_vector(&[0; 3]));
    let [mut answer, mut this] = [held.clone(), held.clone()];
    let guard = held.read::<i64>().unwrap();
    let errors = [doubled_out(&x, &mut answer), doubled_(&mut this)].map(|result| result.unwrap_err().to_string());
    drop(guard);
    assert!(errors[0].starts_with("`plans::doubled.out`: argument `answer` is in use"), "{}", errors[0]);
    assert!(errors[1].starts_with("`plans::doubled_`: argument `self` is in use"), "{}", errors[1]);
    doubled_(&mut this).unwrap();
    let error = doubled_(&mut Tensor::from_slice(&[1.0_f32])).unwrap_err().to_string();
    assert!(error.contains("`plans::doubled_`") && !error.contains("`plans::doubled`"), "{error}");
}

#[test]
fn an_output_is_written_directly_only_if_the_result_is_the_same() {
    let x = int_vector(&[1, 2, 3, 4]);
    // The output is exactly an input: the kernel writes a temporary tensor.
    let mut same = x.clone();
    mirror_out(&x, &mut same).unwrap();
    assert_eq!(to_ints(&x), [4, 3, 2, 1]);

    // The output has other strides or another dtype: the result is copied, because the kernel declares neither.
    let wide = Tensor::from_slice(&[9_i64; 8]);
    let mut every_second = wide.restride(Geometry::strided(&[4], &[2], 0).unwrap()).unwrap();
    mirror_out(&x, &mut every_second).unwrap();
    assert_eq!(to_ints(&wide), [1, 9, 2, 9, 3, 9, 4, 9]);
    let mut floats = Tensor::from_slice(&[0.0_f32; 4]);
    mirror_out(&x, &mut floats).unwrap();
    assert_eq!(floats.to_vec::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0]);

    // An output without elements is bound to a new tensor.
    let mut empty = int_vector(&[]);
    mirror_out(&x, &mut empty).unwrap();
    assert_eq!(to_ints(&empty), [1, 2, 3, 4]);
}

#[test]
fn unsuitable_outputs_are_errors_and_stay_unchanged() {
    let x = int_vector(&[1, 2, 3, 4]);
    let refusal = |out: &mut Tensor| mirror_out(&x, out).unwrap_err().to_string();
    let mut short = int_vector(&[7]);
    let error = refusal(&mut short);
    assert!(error.contains("mirror.out") && error.contains("`out` has sizes [1]"), "{error}");
    assert_eq!(to_ints(&short), [7]);
    let floats = Tensor::from_slice(&[0.5_f32; 4]);
    let error = mirror_out(&floats, &mut int_vector(&[0; 4])).unwrap_err().to_string();
    assert!(error.contains("able to hold float32, as the result has this dtype"), "{error}");
    let mut part = x.restride(Geometry::strided(&[4], &[0], 0).unwrap()).unwrap();
    assert!(refusal(&mut part).contains("`out`"));
    let shifted = int_vector(&[1, 2, 3, 4, 5]);
    let first = shifted.restride(Geometry::contiguous(&[4])).unwrap();
    let mut last = shifted.restride(Geometry::contiguous(&[4]).with_offset(1)).unwrap();
    let error = mirror_out(&first, &mut last).unwrap_err().to_string();
    assert!(error.contains("`out`") && error.contains("`self`"), "{error}");
    let mut one = int_vector(&[0]);
    let mut other = one.clone();
    let error = min_max_out(&x, 0, &mut one, &mut other).unwrap_err().to_string();
    assert!(error.contains("`max`") && error.contains("`min`"), "{error}");
    assert_eq!((to_ints(&x), to_ints(&one)), (vec![1, 2, 3, 4], vec![0]));
}

#[test]
fn several_results_and_conditions_work_in_every_form() {
    let x = int_vector(&[5, 2, 8]);
    let (min, max) = min_max(&x, 1).unwrap();
    assert_eq!((to_ints(&min), to_ints(&max)), (vec![2], vec![8]));
    let empty = || Spec::contiguous(DType::I64, &[]).on(Device::CPU).unwrap();
    let (mut min, mut max) = (empty(), empty());
    min_max_out(&x, 2, &mut min, &mut max).unwrap();
    assert_eq!((to_ints(&min), to_ints(&max)), (vec![8], vec![8]));

    let one = int_vector(&[5]);
    assert_eq!(to_ints(&min_max(&one, 0).unwrap().0), [1005]);
    min_max_out(&one, 0, &mut min, &mut max).unwrap();
    assert_eq!((to_ints(&min), to_ints(&max)), (vec![1005], vec![1005]));
}

#[test]
fn the_arguments_decide_the_length_of_a_result_list() {
    let all = |list: Vec<Tensor>| list.iter().map(to_ints).collect::<Vec<_>>();
    assert_eq!(all(split_vector(&int_vector(&[1, 2, 3, 4, 5]), 2).unwrap()), [vec![1, 2], vec![3, 4], vec![5]]);
    let sizes: Vec<Vec<i64>> =
        split_vector(&meta_tensor(&[5]), 2).unwrap().iter().map(|piece| piece.sizes().to_vec()).collect();
    assert_eq!(sizes, [vec![2], vec![2], vec![1]]);
}

#[test]
fn the_plan_checks_written_arguments_and_the_kernel_writes_them() {
    let mut x = int_vector(&[1, 2]);
    add_number_(&mut x, 5).unwrap();
    assert_eq!(to_ints(&x), [11, 12]);
    let mut seen = int_vector(&[0]);
    assert_eq!(to_ints(&sum_and_count_calls(&x, Some(&mut seen)).unwrap()), [23]);
    assert_eq!(to_ints(&seen), [1]);
    let error = sum_and_count_calls(&x, Some(&mut int_vector(&[1, 2]))).unwrap_err().to_string();
    assert!(error.contains("`seen`"), "{error}");

    let mut far = meta_tensor(&[2]);
    add_number_(&mut far, 1).unwrap();
    assert!(add_number_(&mut far, -1).is_err());
    assert_eq!(sum_and_count_calls(&far, Some(&mut meta_tensor(&[1]))).unwrap().sizes(), [1]);
}

#[test]
fn a_data_dependent_operator_checks_its_arguments_on_meta() {
    assert_eq!(to_ints(&select_positive(&int_vector(&[-1, 2, 3])).unwrap()), [2, 3]);
    let checked = select_positive(&meta_tensor(&[2, 2])).unwrap_err().to_string();
    assert!(checked.contains("`self`"), "{checked}");
    let refused = select_positive(&meta_tensor(&[2])).unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::DataDependent { .. }), "{refused}");
}

#[test]
fn a_mistake_gives_the_same_message_on_every_device_and_in_every_form() {
    let (here, far) = (two_by_two_matrix(), meta_tensor(&[2, 2]));
    let expected = min_max(&here, 0).unwrap_err().to_string();
    assert!(expected.contains("`self`") && expected.contains("min_max"), "{expected}");
    assert_eq!(min_max(&far, 0).unwrap_err().to_string(), expected);
    for tensor in [&here, &far] {
        let error = min_max::operator().call([tensor.into(), 0.into()]).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let (mut min, mut max) = (int_vector(&[0]), int_vector(&[0]));
    let of_form = min_max_out(&here, 0, &mut min, &mut max).unwrap_err().to_string();
    assert_eq!(of_form.replace("min_max.out", "min_max"), expected);
    // A composite's plan runs after its body failed.
    let error = composite(&int_vector(&[1]), &here).unwrap_err().to_string();
    assert!(error.contains("`other`") && error.contains("composite"), "{error}");
    assert_eq!(composite(&meta_tensor(&[1]), &meta_tensor(&[3])).unwrap().sizes(), [3]);
}

#[test]
fn a_plan_can_be_called_without_a_kernel() {
    let plan = mirror::plan(&int_vector(&[1, 2, 3])).unwrap();
    assert_eq!((plan.value, plan.outputs[0].geometry.sizes()), (3, &[3_i64][..]));
}

mod npu {
    use super::*;

    #[dispatch_key(backend)]
    pub(super) static NPU: Key;

    /// A kernel with the operator's own signature, without the plan.
    #[op_impl(min_max, NPU)]
    fn min_max_npu(_this: &Tensor, skip: i64) -> Result<(Tensor, Tensor)> {
        Ok((int_vector(&[skip]), int_vector(&[-skip])))
    }

    #[op_impl(mirror, NPU)]
    fn mirror_npu(_plan: &usize, out: &mut Tensor) -> Result<()> {
        out.write::<i64>()?.fill(7);
        Ok(())
    }

    /// A kernel that replaces the one derived from the kernel above.
    #[op_impl(mirror_, NPU)]
    fn mirror_npu_(this: &mut Tensor) -> Result<()> {
        this.write::<i64>()?.fill(8);
        Ok(())
    }
}

#[test]
fn a_backend_can_have_planned_and_unplanned_kernels() {
    let on_npu = |tensor: Tensor| tensor.with_keys(KeySet::from(npu::NPU));
    let (min, max) = min_max(&on_npu(two_by_two_matrix()), 3).unwrap();
    assert_eq!((to_ints(&min), to_ints(&max)), (vec![3], vec![-3]));
    let mut x = on_npu(int_vector(&[1, 2]));
    assert_eq!(to_ints(&mirror(&x).unwrap()), [7, 7]);
    mirror_(&mut x).unwrap();
    assert_eq!(to_ints(&x), [8, 8]);
    let mut out = on_npu(int_vector(&[0, 0]));
    mirror_out(&x, &mut out).unwrap();
    assert_eq!(to_ints(&out), [7, 7]);

    let lab = dispatch_runtime::Registrar::new("plans");
    let late = lab.kernel("mirror.out", npu::NPU, |_, _, _| Err(Error::kernel("late"))).unwrap();
    assert!(mirror_out(&x, &mut out).unwrap_err().to_string().contains("late"));
    late.remove();
    mirror_out(&x, &mut out).unwrap();
}

/// An operator with a shape word, whose kernel takes no plan. What it calls does not know the names of the arguments.
#[op_def("joined(Tensor self, Tensor other) -> Tensor", shape = pointwise)]
fn joined(this: &Tensor, other: &Tensor) -> Result<Tensor>;

#[op_impl(joined, CPU)]
fn joined_cpu(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let spec = Spec::pointwise(&[this, other], this.dtype())?;
    if this.sizes() == [0] { Err(Error::kernel("the kernel joins no empty tensors")) } else { spec.on(Device::CPU) }
}

#[test]
fn the_plan_names_the_wrong_argument_of_a_kernel_without_a_plan() {
    let (pair, triple, empty) =
        (Tensor::from_slice(&[1.0, 2.0]), Tensor::from_slice(&[1.0; 3]), Tensor::from_slice::<f64>(&[]));
    assert_eq!(joined(&pair, &pair).unwrap().sizes(), [2]);
    let error = joined(&pair, &triple).unwrap_err().to_string();
    assert!(error.contains("`plans::joined`: argument `other` ") && !error.contains("operand"), "{error}");
    let error = joined(&empty, &empty).unwrap_err().to_string();
    assert!(error.contains("the kernel joins no empty tensors"), "{error}");
}

#[op_def("halved(Tensor self) -> Tensor", shape = pointwise, dtypes(floating))]
fn halved(this: &Tensor) -> Result<Tensor>;

#[op_def("inverted(Tensor self) -> Tensor", shape = pointwise, dtypes(integral))]
fn inverted(this: &Tensor) -> Result<Tensor>;

#[test]
fn a_plan_lists_every_dtype_of_its_groups() {
    let zeros = |dtype| Spec::contiguous(dtype, &[2]).on(Device::CPU).unwrap();
    let floats = [DType::F16, DType::BF16, DType::F32, DType::F64];
    let integers = [DType::U8, DType::I8, DType::I16, DType::I32, DType::I64, DType::Bool];
    for dtype in floats {
        assert!(halved::plan(&zeros(dtype)).is_ok() && inverted::plan(&zeros(dtype)).is_err(), "{dtype}");
    }
    for dtype in integers {
        assert!(halved::plan(&zeros(dtype)).is_err() && inverted::plan(&zeros(dtype)).is_ok(), "{dtype}");
    }
    let error = halved::plan(&zeros(DType::I32)).unwrap_err().to_string();
    assert!(error.ends_with("of int32; it supports float16, bfloat16, float32, float64"), "{error}");
    let error = inverted::plan(&zeros(DType::F32)).unwrap_err().to_string();
    assert!(error.ends_with("it supports uint8, int8, int16, int32, int64, bool"), "{error}");
}
