//! Tests of the elementwise engine: promotion, rounding, wrapping and refused calls.

use aten::prelude::*;
use dispatch_runtime::{DType, Scalar, Tensor, f16};

fn zero_dim_tensor(value: i64) -> Tensor {
    Tensor::from(value)
}

#[test]
fn zero_dim_integers_wrap_to_the_common_dtype() {
    let bytes = Tensor::from([5_u8, 255]);
    let truth = |result: Tensor| result.to_string();
    assert_eq!(truth(aten::gt(&bytes, &zero_dim_tensor(-1)).unwrap()), "tensor([false, false])");
    assert_eq!(truth(aten::eq_scalar(&bytes, Scalar::Int(-1)).unwrap()), "tensor([false,  true])");
    assert_eq!(aten::maximum(&bytes, &zero_dim_tensor(300)).unwrap().to_vec::<u8>().unwrap(), [44, 255]);
    assert!(aten::floor_divide(&bytes, &zero_dim_tensor(256)).is_err());
}

#[test]
fn operands_round_to_f16_except_factors_and_divisors() {
    let halves = |numbers: [f32; 2]| Tensor::from(numbers.map(f16::from_f32));
    let numbers = |tensor: Tensor| tensor.to_vec::<f16>().unwrap().iter().map(|x| x.to_f32()).collect::<Vec<_>>();
    let (few, wide) = (halves([0.1, 2048.0]), Tensor::from(0.1_f32));
    assert_eq!(aten::eq(&few, &wide).unwrap().to_string(), "tensor([ true, false])");
    assert_eq!(aten::eq(&wide, &few).unwrap().to_string(), "tensor([ true, false])");
    assert_eq!(aten::lt_scalar(&few, Scalar::Float(0.1)).unwrap().to_string(), "tensor([false, false])");
    assert_eq!(aten::eq(&few, &Tensor::from([0_i64, 2049])).unwrap().to_string(), "tensor([false,  true])");
    let (small, large) = (halves([1e-5, -0.5]), Tensor::from(70_000.0_f64));
    assert_eq!(numbers(aten::mul(&small, &large).unwrap()), [0.701_171_9, -35_008.0]);
    assert_eq!(numbers(aten::mul(&small, &Tensor::from([70_000_i64])).unwrap()), [0.701_171_9, -35_008.0]);
    assert_eq!(numbers(aten::mul(&large, &small).unwrap()), [f32::INFINITY, f32::NEG_INFINITY]);
    let one = Tensor::from([0.1_f64, 0.1]);
    let quotient = |by: &Tensor| numbers(aten::div_tensor_mode(&halves([-2.7, 7.0]), by, Some("trunc")).unwrap());
    assert_eq!(quotient(&wide), [-26.0, 70.0]);
    assert_eq!(quotient(&one.to(DType::F16).unwrap()), [-27.0, 70.0]);
}

#[test]
fn clamp_bounds_outside_the_dtype_have_no_effect() {
    let bytes = Tensor::from([5_u8, 200]);
    let kept = aten::clamp(&bytes, Some(Scalar::Int(-1)), Some(Scalar::Int(300))).unwrap();
    assert_eq!(kept.to_vec::<u8>().unwrap(), [5, 200]);
}

#[test]
fn narrow_integers_wrap_and_bool_conversion_reads_all_bits() {
    let ends = Tensor::from([i32::MAX, i32::MIN]);
    assert_eq!(aten::add(&ends, &ends, Scalar::Int(1)).unwrap().to_vec::<i32>().unwrap(), [-2, 0]);
    assert_eq!(aten::neg(&ends).unwrap().to_vec::<i32>().unwrap(), [-i32::MAX, i32::MIN]);
    let bytes = Tensor::from([-128_i8, 127]);
    assert_eq!(aten::abs(&bytes).unwrap().to_vec::<i8>().unwrap(), [-128, 127]);
    let (no, yes) = (Tensor::from([false, false]), Tensor::from([false, true]));
    let filled = aten::masked_fill(&no, &yes, &Tensor::number(Scalar::Int(1 << 32))).unwrap();
    let added = aten::add(&no, &yes, Scalar::Int(1 << 32)).unwrap();
    assert_eq!([filled.to_string(), added.to_string()], ["tensor([false,  true])"; 2]);
}

#[test]
fn results_wrap_and_round_before_they_are_widened() {
    let bytes = Tensor::from([200_u8, 100]);
    let mut out = Tensor::from([0_i64; 2]);
    aten::add_out(&bytes, &bytes, Scalar::Int(1), &mut out).unwrap();
    assert_eq!(out.to_vec::<i64>().unwrap(), [144, 200]);
    let (truth, mut out) = (Tensor::from([true; 200]), Tensor::from([0.0_f32; 200]));
    aten::add_out(&truth, &truth, Scalar::Int(1), &mut out).unwrap();
    assert_eq!(out.to_vec::<f32>().unwrap(), [1.0; 200]);
    let halves = Tensor::from([f16::from_f32(2049.0), f16::MAX]);
    let mut out = Tensor::from([0.0_f32; 2]);
    aten::add_out(&halves, &halves, Scalar::Int(1), &mut out).unwrap();
    assert_eq!(out.to_vec::<f32>().unwrap(), [4096.0, f32::INFINITY]);
}

#[test]
fn failed_calls_do_not_change_an_empty_out() {
    let mut held = Tensor::from([1.0_f32, 2.0]);
    let (input, mut out) = (held.clone(), Tensor::from_vec(Vec::<f32>::new(), [0]).unwrap());
    let guard = held.write::<f32>().unwrap();
    assert!(aten::add_out(&input, &input, Scalar::Int(1), &mut out).is_err());
    assert_eq!((out.sizes(), out.dtype()), (&[0_i64][..], DType::F32));
    drop(guard);
    aten::add_out(&input, &input, Scalar::Int(1), &mut out).unwrap();
    assert_eq!(out.to_vec::<f32>().unwrap(), [2.0, 4.0]);
}
