//! Tests of float8 dtypes: few operators compute with them, and none mixes them with other dtypes.

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Float8E4M3Fn, Problem};
// Links the CPU kernels.
use kernels_cpu as _;

const FLOAT8_DTYPES: [DType; 5] =
    [DType::F8E5M2, DType::F8E4M3FN, DType::F8E5M2FNUZ, DType::F8E4M3FNUZ, DType::F8E8M0FNU];

fn numbers(dtype: DType) -> Tensor {
    Tensor::from([[1.0_f32, 2.0, 0.5], [4.0, 0.25, 1.0]]).to(dtype).unwrap()
}

/// Checks that a call is refused because of the dtype of an argument.
#[track_caller]
fn assert_refuses_dtype(result: Result<Tensor>, what: &str) {
    let error = result.expect_err(what);
    let bad = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<BadArgument>());
    let is_dtype_problem = bad.is_some_and(|bad| matches!(*bad.problem, Problem::DType { .. }));
    assert!(is_dtype_problem || error.to_string().contains("float8"), "{what}: {error}");
}

#[test]
fn operators_without_a_float8_kernel_refuse_the_dtype() {
    for dtype in FLOAT8_DTYPES {
        for x in [numbers(dtype), numbers(dtype).to(Device::META).unwrap()] {
            assert_refuses_dtype(&x + &x, "add");
            assert_refuses_dtype(-&x, "neg");
            assert_refuses_dtype(x.exp(), "exp");
            assert_refuses_dtype(x.lt(&x), "lt");
            assert_refuses_dtype(x.sum(), "sum");
            assert_refuses_dtype(x.amax_dims(0), "amax");
            assert_refuses_dtype(x.mm(&x.t().unwrap()), "mm");
            assert_refuses_dtype(x.matmul(&x.t().unwrap()), "matmul");
            assert_refuses_dtype(x.cumsum(0), "cumsum");
            assert_refuses_dtype(x.flip(0), "flip");
            assert_refuses_dtype(x.softmax(0), "softmax");
            assert_refuses_dtype(Tensor::arange(0..3, dtype), "arange");
            assert_refuses_dtype(aten::cumsum(&Tensor::from([1.0_f32]), 0, Some(dtype)), "cumsum to float8");
        }
    }
}

#[test]
fn float8_promotes_with_no_other_dtype() {
    for (dtype, other) in FLOAT8_DTYPES.into_iter().zip([DType::F32, DType::I32, DType::F16, DType::F8E5M2, DType::F64])
    {
        let (x, y) = (numbers(dtype), numbers(other));
        assert_refuses_dtype(x.eq(&y), "eq");
        assert_refuses_dtype(&y + &x, "add");
        assert_refuses_dtype(aten::cat(&[x.clone(), y.clone()], 0), "cat");
        assert_refuses_dtype(aten::where_self(&x.isnan().unwrap(), &x, &y), "where");
    }
}

#[test]
fn float8_tensors_are_compared_selected_printed_and_read() {
    for dtype in FLOAT8_DTYPES {
        let x = numbers(dtype);
        assert!(x.eq(&x).unwrap().all().unwrap().item::<bool>().unwrap(), "{dtype}");
        assert_eq!(x.eq(1.0).unwrap().to_vec::<dispatch_runtime::Bool>().unwrap().len(), 6);
        let joined = aten::cat(&[x.clone(), x.t().unwrap().reshape([2, 3]).unwrap()], 0).unwrap();
        assert_eq!((joined.dtype(), joined.sizes()), (dtype, &[4_i64, 3][..]));
        assert_eq!(x.select(0, 1).unwrap().to(DType::F32).unwrap().to_vec::<f32>().unwrap(), [4.0, 0.25, 1.0]);
        let text = format!("tensor([[1.0000, 2.0000, 0.5000],\n        [4.0000, 0.2500, 1.0000]], dtype={dtype})");
        assert_eq!(x.to_string(), text);
        assert_eq!(x.view_dtype(DType::U8).unwrap().sizes(), [2, 3]);
    }
}

#[test]
fn numbers_round_when_they_are_stored() {
    let x = Tensor::from([1.05_f32, 500.0, f32::INFINITY, -1e-9]).to(DType::F8E4M3FN).unwrap();
    let expected = [1.0, 448.0, 448.0, -0.0].map(Float8E4M3Fn::from_f32);
    assert_eq!(x.to_vec::<Float8E4M3Fn>().unwrap(), expected);
    assert!(aten::full(&[2], 500.0.into(), Some(DType::F8E4M3FN), None, None, None).is_err());
    // A number is rounded to the dtype before it is compared.
    assert!(x.eq(1.03).unwrap().select(0, 0).unwrap().item::<bool>().unwrap());
}
