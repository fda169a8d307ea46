//! Tests that the fields of a `BadArgument` hold the expected value, with which a program can correct its call.

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Expected, Problem, Reason, Sizes};
use kernels_cpu as _;

fn unwrap_bad_argument<T>(result: Result<T>) -> BadArgument {
    let Err(error) = result else { panic!("a call with a mistake succeeded") };
    std::error::Error::source(&error)
        .and_then(|source| source.downcast_ref::<BadArgument>())
        .expect("the error is not a BadArgument")
        .clone()
}

fn ones(sizes: &[i64], dtype: DType) -> Tensor {
    Tensor::from_slice(&[1.0_f32]).reshape(vec![1; sizes.len()]).unwrap().expand(sizes).unwrap().to(dtype).unwrap()
}

#[test]
fn wrong_dimension_error_has_dimension_and_rank() {
    let x = ones(&[2, 3], DType::F32);
    let Problem::Dim { dim: 5, rank: 2 } = *unwrap_bad_argument(x.softmax(5)).problem else {
        panic!("the error has no dimension and rank")
    };
    x.softmax(1).unwrap();
}

#[test]
fn wrong_rank_error_has_the_expected_rank() {
    let weight = ones(&[1, 1, 3, 3], DType::F32);
    let x = ones(&[1, 5, 5, 1, 1], DType::F32);
    let bad = unwrap_bad_argument(aten::convolution(&x, &weight, None, &[1], &[0], &[1], false, &[0], 1));
    let Problem::Rank { found: 5, expected: Expected::Is(4) } = *bad.problem else { panic!("{bad}") };
    assert_eq!(bad.reason.as_deref(), Some(&Reason::SameAsArgument("weight".into())));
}

#[test]
fn wrong_dtype_error_has_the_expected_dtype() {
    let (a, b) = (ones(&[2, 3], DType::F32), ones(&[3, 2], DType::F64));
    let bad = unwrap_bad_argument(a.mm(&b));
    let Problem::DType { found: DType::F64, expected: DTypes::Is(dtype) } = *bad.problem else { panic!("{bad}") };
    assert_eq!(bad.argument, "mat2");
    a.mm(&b.to(dtype).unwrap()).unwrap();
}

#[test]
fn size_error_names_both_dimensions() {
    let bad = unwrap_bad_argument(ones(&[2, 3], DType::F32).mm(&ones(&[4, 2], DType::F32)));
    let Problem::Sizes { ref expected, .. } = *bad.problem else { panic!("{bad}") };
    assert_eq!(*expected, Sizes::Dim { dim: 0, size: Expected::Is(3) });
    assert_eq!(bad.reason.as_deref(), Some(&Reason::SameAsDimension { argument: "self".into(), dim: 1 }));
}

#[test]
fn group_norm_error_has_the_number_that_groups_must_divide() {
    let bad = unwrap_bad_argument(aten::group_norm(&ones(&[1, 6, 2], DType::F32), 4, None, None, 1e-5, true));
    let Problem::Number { found, expected: Expected::DivisorOf(Scalar::Int(channels)) } = *bad.problem else {
        panic!("{bad}")
    };
    assert_eq!((found, channels), (Scalar::Int(4), 6));
}
