//! Tests of the tensor API: indexing, scalars as operands, conversions, defaults.

use aten::prelude::*;
use aten::{Index, IntoIndex};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Complex64, ErrorKind, Geometry, Problem, Storage, guard};
// Links the CPU kernels.
use kernels_cpu as _;

fn arange_of_sizes(sizes: &[i64]) -> Tensor {
    let count: i64 = sizes.iter().product();
    aten::reshape(&Tensor::arange(0..count, ()).unwrap(), sizes).unwrap()
}

fn to_i64_vec(tensor: &Tensor) -> Vec<i64> {
    tensor.to_vec().unwrap()
}

#[test]
fn integer_index_removes_a_dimension_and_range_keeps_it() {
    let x = arange_of_sizes(&[2, 3, 4]);
    assert_eq!(to_i64_vec(&x.i((1, -1, 0)).unwrap()), [20]);
    assert_eq!(x.i((1, -1, 0)).unwrap().sizes(), []);
    let part = x.i((.., 0, 1..3)).unwrap();
    assert_eq!((part.sizes(), to_i64_vec(&part)), (&[2, 2][..], vec![1, 2, 13, 14]));
    assert!(part.storage().same(x.storage()));
    assert_eq!(to_i64_vec(&x.i((0, 1.., ..=1)).unwrap()), [4, 5, 8, 9]);
    assert_eq!(to_i64_vec(&x.i((0, 0, Slice::step(..=-2, 2))).unwrap()), [0, 2]);
    assert_eq!(x.i((.., 5.., Slice::between(2, 1))).unwrap().sizes(), [2, 0, 0]);
}

#[test]
fn ellipsis_covers_the_remaining_dimensions() {
    let x = arange_of_sizes(&[2, 3, 4]);
    assert_eq!(to_i64_vec(&x.i((Ellipsis, 1)).unwrap()), [1, 5, 9, 13, 17, 21]);
    assert_eq!(x.i((0, Ellipsis, NewAxis)).unwrap().sizes(), [3, 4, 1]);
    assert_eq!(to_i64_vec(&x.i((1, 2, Ellipsis, 3)).unwrap()), [23]);
    assert_eq!(Tensor::from(7_i64).i(Ellipsis).unwrap().sizes(), []);
}

#[test]
fn index_tensor_dimensions_are_placed_as_in_pytorch() {
    let x = arange_of_sizes(&[2, 3, 4]);
    assert_eq!(x.i((.., [2, 0, 0], 1..)).unwrap().sizes(), [2, 3, 3]);
    assert_eq!(x.i(([1, 0], .., [3, 2])).unwrap().sizes(), [2, 3]);
    let mask = aten::gt_scalar(&x.i((.., .., 0)).unwrap(), 8.into()).unwrap();
    assert_eq!(to_i64_vec(&x.i((&mask, 0)).unwrap()), [12, 16, 20]);
    let yes = Tensor::from(true);
    assert_eq!(x.i((&yes, 0)).unwrap().sizes(), [1, 3, 4]);
}

#[test]
fn invalid_indices_are_refused() {
    let x = arange_of_sizes(&[2, 3]);
    let message = |result: Result<Tensor>| result.unwrap_err().to_string();
    assert!(message(x.i(2)).contains("index"), "{}", message(x.i(2)));
    assert!(message(x.i((0, 0, 0))).contains("for 3 dimensions"));
    assert!(message(x.i((Ellipsis, Ellipsis))).contains("at most one"));
    assert!(message(x.i(Slice::step(.., 0))).contains("step"));
    assert!(x.i(i64::MIN).is_err() && x.i(usize::MAX).is_err());
    assert_eq!(x.i(i64::MIN..i64::MAX).unwrap().sizes(), [2, 3]);
}

#[test]
fn error_of_an_index_names_the_dimension_and_the_range() {
    let x = arange_of_sizes(&[2, 3, 0]);
    let message = |result: Result<Tensor>| result.unwrap_err().to_string();
    let expected = "argument `indices` has the index 3, which is out of range for dimension 1 of size 3; write -3 to 2";
    assert_eq!(message(x.i((0, 3))), expected);
    assert_eq!(message(x.i((NewAxis, Ellipsis, 3, ..))), expected);
    assert_eq!(
        message(x.i((.., [0], -1))),
        "argument `indices` has the index -1, but dimension 2 is of size 0; leave the index out"
    );
    let of_operator = message(x.select(1, -4));
    assert!(
        of_operator.ends_with("index -4, which is out of range for dimension 1 of size 3; write -3 to 2"),
        "{of_operator}"
    );
}

#[test]
fn lists_of_indices_and_of_booleans_are_indices() {
    let x = arange_of_sizes(&[3]);
    let last = 2_usize;
    assert_eq!(to_i64_vec(&x.i([last, 0]).unwrap()), [2, 0]);
    assert_eq!(to_i64_vec(&x.i(vec![2, 0]).unwrap()), [2, 0]);
    assert_eq!(to_i64_vec(&x.i(&[-1_i64, 0][..]).unwrap()), [2, 0]);
    assert_eq!(to_i64_vec(&x.i(vec![last]).unwrap()), [2]);
    assert_eq!(to_i64_vec(&x.i([true, false, true]).unwrap()), [0, 2]);
    assert_eq!(to_i64_vec(&x.i((vec![false, false, true], NewAxis)).unwrap()), [2]);
    assert!(x.i([true, false]).is_err());
    let indices: Vec<Index> = vec![NewAxis.into_index(), [0, 1].into_index()];
    assert_eq!(x.i(indices).unwrap().sizes(), [1, 2]);
}

#[test]
fn functions_of_no_tensors_return_an_error() {
    let is_refused = |error: Error| {
        assert_eq!(error.to_string(), "argument `tensors` is empty, but must have at least one tensor");
        let bad = std::error::Error::source(&error).unwrap().downcast_ref::<BadArgument>().unwrap();
        assert_eq!(*bad.problem, Problem::NoTensors);
    };
    is_refused(Tensor::cat(&[], 0).unwrap_err());
    is_refused(Tensor::stack(&[], 0).unwrap_err());
    is_refused(Tensor::meshgrid(&[], "ij".parse().unwrap()).unwrap_err());
    is_refused(Tensor::einsum("->", &[]).unwrap_err());
}

#[test]
fn set_is_visible_in_views() {
    let x = arange_of_sizes(&[2, 3]);
    let row = x.i(1).unwrap();
    x.set((1, 1..), Tensor::from([7_i64, 8])).unwrap();
    assert_eq!(to_i64_vec(&row), [3, 7, 8]);
    x.set((.., [0, 2]), -1.5).unwrap();
    assert_eq!(to_i64_vec(&x), [-1, 1, -1, -1, 7, -1]);
    assert!(x.set((0, ..), Tensor::from([1_i64, 2])).is_err());
}

#[test]
fn number_operands_keep_the_precision_of_the_tensor() {
    let x = Tensor::from([1.0_f32, 2.0]);
    assert_eq!((2.0 * &x).unwrap().to_vec::<f32>().unwrap(), [2.0, 4.0]);
    assert_eq!((1 - &x).unwrap().to_vec::<f32>().unwrap(), [0.0, -1.0]);
    assert_eq!(((&x + 1).unwrap() / 2_f32).unwrap().to_vec::<f32>().unwrap(), [1.0, 1.5]);
    assert_eq!((&x * Complex64::I).unwrap().dtype(), DType::C64);
    assert_eq!((-(x.clone() * x).unwrap()).unwrap().to_vec::<f32>().unwrap(), [-1.0, -4.0]);
    let i = Tensor::from([6_i64, 3]);
    assert_eq!(to_i64_vec(&(&i & 2).unwrap()), [2, 2]);
    assert_eq!((&i / 2).unwrap().dtype(), DType::F32);
}

#[test]
fn item_refuses_lossy_conversions() {
    let x = Tensor::from([[3_i64]]);
    assert_eq!((x.item::<i64>().unwrap(), x.item::<f64>().unwrap()), (3, 3.0));
    assert!(Tensor::from(1.5).item::<i64>().unwrap_err().to_string().contains("float64"));
    assert!(Tensor::from([1, 2]).item::<i32>().is_err());
    assert!(Tensor::zeros((), Device::META).unwrap().item::<f32>().is_err());
    let storage = Storage::new_host(16);
    let second = Tensor::new(storage, DType::I64, Geometry::strided(&[1], &[5], 1).unwrap()).unwrap();
    assert_eq!(second.item::<i64>().unwrap(), 0);
}

#[test]
fn item_never_changes_an_integer() {
    let large = Tensor::from(3_000_000_000_i64);
    let expected = "the element is 3000000000, which int32 cannot represent; read it as `i64` or `f64`";
    assert_eq!(large.item::<i32>().unwrap_err().to_string(), expected);
    assert_eq!((large.item::<i64>().unwrap(), large.item::<f64>().unwrap()), (3_000_000_000, 3e9));
    assert!(Tensor::from(-1).item::<u8>().is_err());
    assert_eq!(Tensor::from(255).item::<u8>().unwrap(), 255);
    assert_eq!(Tensor::from(true).item::<i8>().unwrap(), 1);
}

#[test]
fn errors_of_another_dtype_say_what_to_write() {
    let x = Tensor::from(1.5_f32);
    assert!(
        x.item::<i64>().unwrap_err().to_string().ends_with("read it as `f32`, or convert it with `.to(DType::I64)`")
    );
    assert!(
        x.to_vec::<f64>().unwrap_err().to_string().ends_with("read it as `f32`, or convert it with `.to(DType::F64)`")
    );
    let float8 = x.to(DType::F8E5M2).unwrap();
    assert!(float8.item::<i64>().unwrap_err().to_string().contains("read it as `f32`"));
    assert_eq!(float8.item::<f32>().ok(), Some(1.5));
}

#[test]
fn dtype_and_device_are_given_in_any_order() {
    let x = Tensor::zeros(2, (Device::META, DType::F64)).unwrap();
    assert_eq!((x.dtype(), x.device()), (DType::F64, Device::META));
    let y = Tensor::ones(2, &x).unwrap();
    assert_eq!((y.dtype(), y.device()), (DType::F64, Device::META));
}

#[test]
fn to_returns_the_same_tensor_if_nothing_changes() {
    let x = Tensor::from([1.0_f32]);
    assert!(x.to(DType::F32).unwrap().same(&x) && x.to(&x).unwrap().same(&x));
    assert_eq!(x.to(DType::BF16).unwrap().dtype(), DType::BF16);
}

#[test]
fn default_device_ends_with_its_guard() {
    let outer = aten::set_default_device(Device::META);
    {
        let _inner = aten::set_default_device(Device::CPU);
        assert_eq!(Tensor::ones(2, ()).unwrap().device(), Device::CPU);
    }
    assert_eq!(Tensor::arange(0..2, ()).unwrap().device(), Device::META);
    assert_eq!(Tensor::arange(0..2, Device::CPU).unwrap().device(), Device::CPU);
    drop(outer);
    assert_eq!(Tensor::eye(2, ()).unwrap().device(), Device::CPU);
}

#[test]
fn out_form_resizes_an_empty_out_and_refuses_other_sizes() {
    let on_meta = |sizes: &[i64], dtype| Tensor::zeros(sizes, (dtype, Device::META)).unwrap();
    let (x, index) = (on_meta(&[2, 3], DType::F32), on_meta(&[2, 1], DType::I64));
    let mut out = on_meta(&[0], DType::F32);
    aten::gather_out(&x, 1, &index, false, &mut out).unwrap();
    assert_eq!(out.sizes(), [2, 1]);
    let mut wrong = on_meta(&[5], DType::F32);
    assert!(aten::gather_out(&x, 1, &index, false, &mut wrong).is_err());
}

/// Binds the handle to another tensor, as a layer may that computes without writing.
#[op_impl(aten::relu_, Tracer)]
fn relu_that_replaces_its_handle(this: &mut Tensor) {
    *this = Tensor::from([0.0]);
}

#[test]
fn method_that_writes_returns_an_error_if_its_handle_is_bound_to_another_tensor() {
    let x = Tensor::from([-1.0, 2.0]);
    x.relu_().unwrap();
    assert_eq!(x.to_vec::<f64>().unwrap(), [0.0, 2.0]);
    let _tracing = guard::include(keys::Tracer.into());
    let error = x.relu_().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::LostHandle { operator } if operator.base == "relu_"), "{error}");
    let mut own = x.clone();
    aten::relu_(&mut own).unwrap();
    assert!(!own.same(&x), "the function returns the other tensor through its handle");
}

#[test]
fn words_parse_print_and_list_their_set_in_errors() {
    assert_eq!("same".parse(), Ok(aten::Padding::Same));
    assert_eq!("bicubic".parse(), Ok(aten::Interpolation::Cubic));
    assert_eq!("max".parse::<aten::ReductionType>(), "amax".parse());
    assert_eq!(aten::FftNorm::Ortho.to_string(), "ortho");
    let error = "average".parse::<aten::Reduction>().unwrap_err().to_string();
    assert!(error.contains("average") && error.contains("mean"), "{error}");
    assert!("two".parse::<aten::NormOrder>().is_err());
    assert_eq!("cuda:1".parse(), Ok(Device::cuda(1)));
    assert_eq!(Device::cuda(255).index(), None);
}

#[test]
fn numbers_and_tensors_are_operands_alike() {
    let x = Tensor::from([1.0, 2.0, 3.0]);
    let two = Tensor::from([2.0]);
    for (number, tensor) in [
        (x.gt(2), x.gt(&two)),
        (x.pow(2), x.pow(&two)),
        (x.maximum(2), x.maximum(&two)),
        (x.lerp(&two, 2), x.lerp(&two, &two)),
        (x.clamp(2..=2), x.clamp(&two..=&two)),
        (x.masked_fill(&x.gt(1).unwrap(), 2), x.masked_fill(&x.gt(1).unwrap(), Tensor::from(2.0))),
    ] {
        assert!(number.unwrap().equal(&tensor.unwrap()).unwrap());
    }
}

#[test]
fn product_over_several_dimensions_is_that_over_each() {
    let x = Tensor::arange(1..7, DType::F64).unwrap().reshape((1, 2, 3)).unwrap();
    assert_eq!(x.prod_dims((0, 2)).unwrap().to_vec::<f64>().unwrap(), [6.0, 120.0]);
    assert_eq!(x.prod_keepdim([-1, 1]).unwrap().sizes(), [1, 1, 1]);
    assert_eq!(Tensor::from(true).prod_dims(0).unwrap().dtype(), DType::I64);
    assert!(x.prod_dims([0, 0]).is_err() && x.prod_dims(3).is_err());
}

#[test]
fn pooling_of_sequences_refuses_a_divisor() {
    let options = aten::AvgPoolOptions { divisor: Some(3), ..aten::AvgPoolOptions::default() };
    let error = Tensor::ones((1, 1, 4), ()).unwrap().avg_pool1d_with(2, options).unwrap_err();
    assert!(error.to_string().contains("divisor"), "{error}");
}
