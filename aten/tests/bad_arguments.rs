//! Tests of `BadArgument`: a program reads from its fields what to change, and calls again.

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Expected, Problem, Reason, Sizes};
use kernels_cpu as _;

fn refused<T>(result: Result<T>) -> BadArgument {
    let Err(error) = result else { panic!("a call with a mistake succeeded") };
    std::error::Error::source(&error)
        .and_then(|source| source.downcast_ref::<BadArgument>())
        .expect("an argument")
        .clone()
}

fn ones(sizes: &[i64], dtype: DType) -> Tensor {
    Tensor::from_slice(&[1.0_f32]).reshape(&vec![1; sizes.len()]).unwrap().expand(sizes).unwrap().to(dtype).unwrap()
}

#[test]
fn a_wrong_dimension_of_softmax_is_taken_into_its_range() {
    let x = ones(&[2, 3], DType::F32);
    let Problem::Dim { dim: 5, rank: 2 } = *refused(x.softmax_int(5, None)).problem else {
        panic!("the dimension and the rank")
    };
    x.softmax_int(1, None).unwrap();
}

#[test]
fn a_wrong_rank_of_a_convolution_names_the_right_one() {
    let weight = ones(&[1, 1, 3, 3], DType::F32);
    let x = ones(&[1, 5, 5, 1, 1], DType::F32);
    let bad = refused(aten::convolution(&x, &weight, None, &[1], &[0], &[1], false, &[0], 1));
    let Problem::Rank { found: 5, expected: Expected::Is(4) } = *bad.problem else { panic!("{bad}") };
    assert_eq!(bad.reason.as_deref(), Some(&Reason::Like("weight".into())));
}

#[test]
fn a_wrong_dtype_of_a_product_is_cast_to_the_right_one() {
    let (a, b) = (ones(&[2, 3], DType::F32), ones(&[3, 2], DType::F64));
    let bad = refused(a.mm(&b));
    let Problem::DType { found: DType::F64, expected: DTypes::Is(dtype) } = *bad.problem else { panic!("{bad}") };
    assert_eq!(bad.argument, "mat2");
    a.mm(&b.to(dtype).unwrap()).unwrap();
}

#[test]
fn a_product_says_which_dimensions_must_agree() {
    let bad = refused(ones(&[2, 3], DType::F32).mm(&ones(&[4, 2], DType::F32)));
    let Problem::Sizes { ref expected, .. } = *bad.problem else { panic!("{bad}") };
    assert_eq!(*expected, Sizes::Dim { dim: 0, size: Expected::Is(3) });
    assert_eq!(bad.reason.as_deref(), Some(&Reason::LikeDim { argument: "self".into(), dim: 1 }));
}

#[test]
fn a_number_of_groups_comes_with_its_bound() {
    let bad = refused(aten::group_norm(&ones(&[1, 6, 2], DType::F32), 4, None, None, 1e-5, true));
    let Problem::Number { found, expected: Expected::DivisorOf(Scalar::Int(channels)) } = *bad.problem else {
        panic!("{bad}")
    };
    assert_eq!((found, channels), (Scalar::Int(4), 6));
}
