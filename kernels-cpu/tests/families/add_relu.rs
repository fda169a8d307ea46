//! Tests of `_add_relu`: all its forms equal `relu` of `add`.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

const SUPPORTED_DTYPES: [DType; 6] = [DType::I8, DType::I16, DType::I32, DType::I64, DType::F32, DType::F64];

/// Returns numbers of both signs; some of their sums wrap in `i8`.
fn operands_with_wrapping_sums(dtype: DType) -> Result<[Tensor; 2]> {
    let numbers = [[100_i64, -100, 0], [7, -3, 50]];
    let others = [[100_i64, -100, -1], [-9, 2, 40]];
    Ok([Tensor::from(numbers).to(dtype)?, Tensor::from(others).to(dtype)?])
}

fn to_f64_vec(tensor: &Tensor) -> Result<Vec<f64>> {
    tensor.to(DType::F64)?.to_vec()
}

#[test]
fn add_relu_equals_relu_of_add() -> Result<()> {
    for dtype in SUPPORTED_DTYPES {
        let [a, b] = operands_with_wrapping_sums(dtype)?;
        for alpha in [1, -2] {
            let (found, expected) = (aten::_add_relu(&a, &b, alpha.into())?, aten::add(&a, &b, alpha.into())?.relu()?);
            assert_eq!((found.dtype(), to_f64_vec(&found)?), (dtype, to_f64_vec(&expected)?), "{dtype}, {alpha}");
            assert!(to_f64_vec(&found)?.iter().all(|x| *x >= 0.0) && to_f64_vec(&found)?.iter().any(|x| *x > 0.0));
        }
        // Repeats the check with another layout and a broadcast operand.
        let (row, turned) = (b.i(0)?, a.t()?.contiguous()?.t()?);
        let found = aten::_add_relu(&turned, &row, 1.into())?;
        assert_eq!(to_f64_vec(&found.contiguous()?)?, to_f64_vec(&aten::add(&a, &row, 1.into())?.relu()?)?, "{dtype}");
    }
    Ok(())
}

#[test]
fn integer_sums_wrap_before_relu() -> Result<()> {
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
fn nan_and_infinity_are_propagated() -> Result<()> {
    let x = Tensor::from([f32::NAN, f32::INFINITY, f32::NEG_INFINITY]);
    let found = aten::_add_relu(&x, &Tensor::from(1.0_f32), 1.into())?.to_vec::<f32>()?;
    assert!(found[0].is_nan() && found[1..] == [f32::INFINITY, 0.0], "{found:?}");
    Ok(())
}

#[test]
fn in_place_and_out_forms_give_the_same_result() -> Result<()> {
    for dtype in SUPPORTED_DTYPES {
        let [a, b] = operands_with_wrapping_sums(dtype)?;
        let expected = to_f64_vec(&aten::_add_relu(&a, &b, 2.into())?)?;
        let mut out = Tensor::empty(0, dtype)?;
        aten::_add_relu_out(&a, &b, 2.into(), &mut out)?;
        assert_eq!((out.sizes(), to_f64_vec(&out)?), (a.sizes(), expected.clone()), "{dtype}");
        let mut written = a.clone();
        aten::_add_relu_(&mut written, &b, 2.into())?;
        assert_eq!(to_f64_vec(&written)?, expected, "{dtype}");
    }
    Ok(())
}

#[test]
fn scalar_overloads_equal_add_and_relu() -> Result<()> {
    for dtype in SUPPORTED_DTYPES {
        let [a, _] = operands_with_wrapping_sums(dtype)?;
        let expected = aten::add_scalar(&a, 3.into(), (-2).into())?.relu()?;
        let found = aten::_add_relu_scalar(&a, 3.into(), (-2).into())?;
        assert_eq!((found.dtype(), to_f64_vec(&found)?), (dtype, to_f64_vec(&expected)?));
        let mut out = Tensor::empty(0, dtype)?;
        aten::_add_relu_scalar_out(&a, 3.into(), (-2).into(), &mut out)?;
        assert_eq!(to_f64_vec(&out)?, to_f64_vec(&expected)?);
        let mut written = a.clone();
        aten::_add_relu__scalar(&mut written, 3.into(), (-2).into())?;
        assert_eq!(to_f64_vec(&written)?, to_f64_vec(&expected)?);
    }
    let whole = aten::_add_relu_scalar(&Tensor::from([1_i32, -5]), 1.5.into(), 1.into())?;
    assert_eq!((whole.dtype(), to_f64_vec(&whole)?), (DType::F32, vec![2.5, 0.0]));
    Ok(())
}

#[test]
fn dtypes_without_a_pytorch_kernel_are_refused() -> Result<()> {
    let of = |dtype| Tensor::zeros(2, dtype);
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
fn errors_about_incompatible_arguments_name_the_argument() {
    let x = Tensor::from([1_i32, 2, 3]);
    let error = aten::_add_relu(&x, &Tensor::from([1_i32, 2]), 1.into()).unwrap_err().to_string();
    assert!(error.contains("`other`"), "{error}");
    let error = aten::_add_relu(&x, &x, 1.5.into()).unwrap_err().to_string();
    assert!(error.contains("`alpha`"), "{error}");
    let error = aten::_add_relu_(&mut x.clone(), &Tensor::from(1.5_f32), 1.into()).unwrap_err().to_string();
    assert!(error.contains("`self`"), "{error}");
}
