//! Tests of `gather`.

use dispatch_runtime::{BadArgument, Geometry, Problem, Result, Tensor};

fn problem_of_error(result: Result<Tensor>) -> Problem {
    let error = result.err().unwrap();
    (*std::error::Error::source(&error).unwrap().downcast_ref::<BadArgument>().unwrap().problem).clone()
}

#[test]
fn gather_is_right_for_any_strides_and_threads() {
    let (high, wide) = (70, 1500);
    let elements: Vec<i32> = (0..high * wide).collect();
    let flat = Tensor::from_slice(&elements);
    let view = |sizes: &[i64], strides: &[i64]| flat.restride(Geometry::strided(sizes, strides, 0).unwrap()).unwrap();
    let (rows, cols) = (i64::from(high), i64::from(wide));
    let straight = view(&[rows, cols], &[cols, 1]);
    let positions: Vec<i64> = (0..i64::from(high * wide)).map(|i| i * 7919 % rows).collect();
    let index = Tensor::from_slice(&positions).restride(Geometry::contiguous(&[rows, cols])).unwrap();
    let down = aten::gather(&straight, 0, &index, false).unwrap().to_vec::<i32>().unwrap();
    let turned = view(&[cols, rows], &[1, cols]);
    let across = aten::gather(&turned, 1, &aten::t(&index).unwrap(), false).unwrap();
    let across = aten::alias_copy(&aten::t(&across).unwrap()).unwrap().to_vec::<i32>().unwrap();
    for (i, position) in positions.iter().enumerate() {
        let expected = i32::try_from(*position).unwrap() * wide + i32::try_from(i).unwrap() % wide;
        assert_eq!((down[i], across[i]), (expected, expected));
    }
}

#[test]
fn indices_out_of_range_are_refused() {
    let row = Tensor::from_slice(&[1.0_f64, 2.0, 3.0]);
    for position in [-1, 3, i64::MIN, i64::MAX] {
        let expected = Problem::Index { index: position, size: 3, dim: None };
        let index = Tensor::from_slice(&[0, position]);
        assert_eq!(problem_of_error(aten::gather(&row, 0, &index, false)), expected);
        assert_eq!(problem_of_error(aten::index_select(&row, 0, &index)), expected);
    }
}
