//! Tests of views and of their gradients.

use dispatch_runtime::{DType, Geometry, Tensor};

fn numbers(count: i64, sizes: &[i64]) -> Tensor {
    let numbers: Vec<i64> = (0..count).collect();
    Tensor::from_slice(&numbers).restride(Geometry::contiguous(sizes)).unwrap()
}

fn elements(tensor: &Tensor) -> Vec<i64> {
    aten::alias_copy(tensor).unwrap().to_vec::<i64>().unwrap()
}

#[test]
fn a_tall_diagonal_begins_anew() {
    let mut tall = aten::zeros(&[7, 2], Some(DType::I64), None, None, None).unwrap();
    aten::fill_diagonal_(&mut tall, 1.into(), true).unwrap();
    assert_eq!(elements(&tall), [1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0]);
    aten::fill_diagonal_(&mut aten::zeros(&[0, 2], None, None, None, None).unwrap(), 1.into(), true).unwrap();
}

#[test]
fn gradients_of_views_are_where_the_views_were() {
    let sizes = [2, 3];
    assert_eq!(elements(&aten::select_backward(&numbers(2, &[2]), &sizes, 1, 2).unwrap()), [0, 0, 0, 0, 0, 1]);
    let sliced = aten::slice_backward(&numbers(4, &[2, 2]), &sizes, 1, 0, 3, 2).unwrap();
    assert_eq!(elements(&sliced), [0, 0, 1, 2, 0, 3]);
    let diagonal = aten::diagonal_backward(&numbers(2, &[2]), &sizes, 1, 0, 1).unwrap();
    assert_eq!(elements(&diagonal), [0, 0, 0, 0, 0, 1]);
    let windows = aten::unfold_backward(&numbers(6, &[3, 2]), &[4], 0, 2, 1).unwrap();
    assert_eq!(elements(&windows), [0, 1 + 2, 3 + 4, 5]);
    let rows = aten::index_select_backward(&numbers(3, &[3]), &[4], 0, &Tensor::from_slice(&[1_i64, 1, 3])).unwrap();
    assert_eq!(elements(&rows), [0, 1, 0, 2]);
}
