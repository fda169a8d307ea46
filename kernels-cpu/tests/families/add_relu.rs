//! Tests of `_add_relu`: all its forms equal `relu` of `add`.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

const DTYPES: [DType; 6] = [DType::I8, DType::I16, DType::I32, DType::I64, DType::F32, DType::F64];

/// Returns numbers of both signs; some of their sums wrap in `i8`.
fn operands(dtype: DType) -> Result<[Tensor; 2]> {
    let numbers = [[100_i64, -100, 0], [7, -3, 50]];
    let others = [[100_i64, -100, -1], [-9, 2, 40]];
    Ok([Tensor::from(numbers).to(dtype)?, Tensor::from(others).to(dtype)?])
}

fn values(tensor: &Tensor) -> Result<Vec<f64>> {
    tensor.to(DType::F64)?.to_vec()
}

#[test]
fn a_sum_below_zero_is_zero() -> Result<()> {
    for dtype in DTYPES {
        let [a, b] = operands(dtype)?;
        for alpha in [1, -2] {
            let (found, expected) = (aten::_add_relu(&a, &b, alpha.into())?, aten::add(&a, &b, alpha.into())?.relu()?);
            assert_eq!((found.dtype(), values(&found)?), (dtype, values(&expected)?), "{dtype}, {alpha}");
            assert!(values(&found)?.iter().all(|x| *x >= 0.0) && values(&found)?.iter().any(|x| *x > 0.0));
        }
        // With another layout and a broadcast operand.
        let (row, turned) = (b.i(0)?, a.t()?.contiguous()?.t()?);
        let found = aten::_add_relu(&turned, &row, 1.into())?;
        assert_eq!(values(&found.contiguous()?)?, values(&aten::add(&a, &row, 1.into())?.relu()?)?, "{dtype}");
    }
    Ok(())
}

#[test]
fn integers_wrap_before_they_are_compared_with_zero() -> Result<()> {
    let (large, small) = (Tensor::from([100_i8, -100]), Tensor::from([100_i8, -100]));
    assert_eq!(aten::_add_relu(&large, &small, 1.into())?.to_vec::<i8>()?, [0, 56]);
    let ends = Tensor::from([i16::MAX, i16::MIN, i16::MIN]);
    let others = Tensor::from([1_i16, -1, 0]);
    assert_eq!(aten::_add_relu(&ends, &others, 1.into())?.to_vec::<i16>()?, [0, i16::MAX, 0]);
    let ends = Tensor::from([i32::MAX, i32::MIN]);
    assert_eq!(aten::_add_relu(&ends, &Tensor::from([1_i32, -1]), 1.into())?.to_vec::<i32>()?, [0, i32::MAX]);
    // A wider `out` tensor does not change the dtype in which the sum wraps.
    let mut wide = Tensor::from([7_i64, 7]);
    aten::_add_relu_out(&large, &small, 1.into(), &mut wide)?;
    assert_eq!(wide.to_vec::<i64>()?, [0, 56]);
    Ok(())
}

#[test]
fn what_is_no_number_stays_and_infinity_too() -> Result<()> {
    let x = Tensor::from([f32::NAN, f32::INFINITY, f32::NEG_INFINITY]);
    let found = aten::_add_relu(&x, &Tensor::from(1.0_f32), 1.into())?.to_vec::<f32>()?;
    assert!(found[0].is_nan() && found[1..] == [f32::INFINITY, 0.0], "{found:?}");
    Ok(())
}

#[test]
fn forms_that_write_give_the_same() -> Result<()> {
    for dtype in DTYPES {
        let [a, b] = operands(dtype)?;
        let expected = values(&aten::_add_relu(&a, &b, 2.into())?)?;
        let mut out = Tensor::empty(&[0], dtype)?;
        aten::_add_relu_out(&a, &b, 2.into(), &mut out)?;
        assert_eq!((out.sizes(), values(&out)?), (a.sizes(), expected.clone()), "{dtype}");
        let mut written = a.clone();
        aten::_add_relu_(&mut written, &b, 2.into())?;
        assert_eq!(values(&written)?, expected, "{dtype}");
    }
    Ok(())
}

#[test]
fn a_number_is_a_tensor_of_its_kind() -> Result<()> {
    for dtype in DTYPES {
        let [a, _] = operands(dtype)?;
        let expected = aten::add_scalar(&a, 3.into(), (-2).into())?.relu()?;
        let found = aten::_add_relu_scalar(&a, 3.into(), (-2).into())?;
        assert_eq!((found.dtype(), values(&found)?), (dtype, values(&expected)?));
        let mut out = Tensor::empty(&[0], dtype)?;
        aten::_add_relu_scalar_out(&a, 3.into(), (-2).into(), &mut out)?;
        assert_eq!(values(&out)?, values(&expected)?);
        let mut written = a.clone();
        aten::_add_relu__scalar(&mut written, 3.into(), (-2).into())?;
        assert_eq!(values(&written)?, values(&expected)?);
    }
    let whole = aten::_add_relu_scalar(&Tensor::from([1_i32, -5]), 1.5.into(), 1.into())?;
    assert_eq!((whole.dtype(), values(&whole)?), (DType::F32, vec![2.5, 0.0]));
    Ok(())
}

#[test]
fn dtypes_that_pytorch_has_no_kernel_for_are_refused() -> Result<()> {
    let of = |dtype| Tensor::zeros(&[2], dtype);
    let refusal = |a: &Tensor, b: &Tensor| aten::_add_relu(a, b, 1.into()).unwrap_err().to_string();
    for dtype in [DType::U8, DType::Bool, DType::F16, DType::BF16, DType::C64, DType::C128] {
        let error = refusal(&of(dtype)?, &of(dtype)?);
        assert!(error.contains("`self`") && error.contains(&dtype.to_string()), "{error}");
        let error = refusal(&of(dtype)?.to(Device::META)?, &of(dtype)?.to(Device::META)?);
        assert!(error.contains("`self`"), "{error}");
    }
    for dtype in [DType::F16, DType::C64] {
        let error = refusal(&of(DType::I32)?, &of(dtype)?);
        assert!(error.contains("`other`") && error.contains(&dtype.to_string()), "{error}");
    }
    assert_eq!(aten::_add_relu(&of(DType::I8)?, &of(DType::U8)?, 1.into())?.dtype(), DType::I16);
    Ok(())
}

#[test]
fn arguments_that_do_not_go_together_are_refused_by_name() {
    let x = Tensor::from([1_i32, 2, 3]);
    let error = aten::_add_relu(&x, &Tensor::from([1_i32, 2]), 1.into()).unwrap_err().to_string();
    assert!(error.contains("`other`"), "{error}");
    let error = aten::_add_relu(&x, &x, 1.5.into()).unwrap_err().to_string();
    assert!(error.contains("`alpha`"), "{error}");
    let error = aten::_add_relu_(&mut x.clone(), &Tensor::from(1.5_f32), 1.into()).unwrap_err().to_string();
    assert!(error.contains("`self`"), "{error}");
}
