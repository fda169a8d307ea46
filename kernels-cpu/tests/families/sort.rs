//! Tests of `sort` and `topk`: NaN, signed zeros, and the order of equal elements.

use dispatch_runtime::{DType, Result, Tensor};
use proptest::prelude::*;

fn vector_of_integers(integers: &[i64]) -> Tensor {
    Tensor::from_vec(integers.to_vec(), [i64::try_from(integers.len()).unwrap()]).unwrap()
}

fn sort_with_indices(line: &Tensor, descending: bool) -> Result<(Tensor, Vec<i64>)> {
    let (elements, places) = aten::sort_stable(line, Some(true), 0, descending)?;
    Ok((elements, places.to_vec()?))
}

#[test]
fn sort_puts_nan_last_and_treats_signed_zeros_as_equal() -> Result<()> {
    let ordered = [f64::NEG_INFINITY, -2.0, -f64::from(f32::MIN_POSITIVE), 0.0, 1e-45, 3.0, f64::INFINITY, f64::NAN];
    let both = [f64::NAN, -0.0, 2.5, 0.0, -1e300];
    for dtype in [DType::F32, DType::F64] {
        let of = |numbers: &[f64]| {
            let numbers = Tensor::from_vec(numbers.to_vec(), [i64::try_from(numbers.len()).unwrap()])?;
            aten::to_dtype(&numbers, dtype, false, true, None)
        };
        assert_eq!(sort_with_indices(&of(&ordered)?, false)?.1, (0..8).collect::<Vec<_>>(), "{dtype}");
        assert_eq!(sort_with_indices(&of(&ordered)?, true)?.1, (0..8).rev().collect::<Vec<_>>(), "{dtype}");
        let (elements, places) = sort_with_indices(&of(&both)?, true)?;
        let elements = aten::to_dtype(&elements, DType::F64, false, true, None)?.to_vec::<f64>()?;
        assert_eq!(places, [0, 2, 1, 3, 4], "{dtype}");
        assert!(elements[0].is_nan() && elements[2].is_sign_negative() && !elements[3].is_sign_negative());
        assert_eq!(sort_with_indices(&of(&[-f64::NAN, 1.0, f64::NAN, -1.5])?, false)?.1, [3, 1, 0, 2], "{dtype}");
    }
    assert_eq!(sort_with_indices(&vector_of_integers(&[i64::MIN, -1, 0, 7, i64::MAX]), true)?.1, [4, 3, 2, 1, 0]);
    Ok(())
}

/// Returns numbers with many equal ones, enough of them for a radix sort.
fn random_integers_with_duplicates(seed: u64, count: usize, kinds: u64) -> Vec<i64> {
    let mut state = seed | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from((state >> 33) % kinds).unwrap() - 5
    };
    (0..count).map(|_| next()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn sort_is_stable_and_topk_agrees(
        seed in any::<u64>(), count in 0_usize..70_000, kinds in 1_u64..1 << 20, descending in any::<bool>(), some in 0_usize..5000,
    ) {
        let integers = random_integers_with_duplicates(seed, count, kinds);
        let mut expected: Vec<i64> = (0..).take(count).collect();
        let at = |place: i64| integers[usize::try_from(place).unwrap()];
        expected.sort_by(|&a, &b| if descending { at(b).cmp(&at(a)) } else { at(a).cmp(&at(b)) });
        // An element and its position fit one word only if the elements are close to each other.
        let near = vector_of_integers(&integers);
        let far = vector_of_integers(&integers.iter().map(|integer| integer << 40).collect::<Vec<_>>());
        let fractions = [DType::F32, DType::F64].map(|dtype| aten::to_dtype(&near, dtype, false, true, None).unwrap());
        let some = some.min(count);
        for line in fractions.iter().chain([&near, &far]) {
            let (elements, places) = sort_with_indices(line, descending).unwrap();
            prop_assert!(places == expected, "{}", line.dtype());
            let taken = aten::index_select(line, 0, &vector_of_integers(&places)).unwrap();
            prop_assert!(aten::equal(&elements, &taken).unwrap(), "{}", line.dtype());
            let (foremost, found) = aten::topk(line, i64::try_from(some).unwrap(), 0, descending, true).unwrap();
            let first = aten::slice(&elements, 0, None, Some(i64::try_from(some).unwrap()), 1).unwrap();
            prop_assert!(aten::equal(&foremost, &first).unwrap(), "{}", line.dtype());
            prop_assert!(found.to_vec::<i64>().unwrap() == expected[..some], "{}", line.dtype());
        }
    }
}
