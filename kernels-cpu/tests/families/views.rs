//! Tests of views and of their gradients.

use dispatch_runtime::{DType, Geometry, Tensor};

fn tensor_of_consecutive_integers(count: i64, sizes: &[i64]) -> Tensor {
    let values: Vec<i64> = (0..count).collect();
    Tensor::from_slice(&values).restride(Geometry::contiguous(sizes)).unwrap()
}

fn to_i64_vec(tensor: &Tensor) -> Vec<i64> {
    aten::alias_copy(tensor).unwrap().to_vec::<i64>().unwrap()
}

#[test]
fn fill_diagonal_wraps_in_tall_matrices() {
    let mut tall = aten::zeros(&[7, 2], Some(DType::I64), None, None, None).unwrap();
    aten::fill_diagonal_(&mut tall, 1.into(), true).unwrap();
    assert_eq!(to_i64_vec(&tall), [1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0]);
    aten::fill_diagonal_(&mut aten::zeros(&[0, 2], None, None, None, None).unwrap(), 1.into(), true).unwrap();
}

#[test]
fn gradients_of_views_are_written_to_the_viewed_elements() {
    let sizes = [2, 3];
    assert_eq!(
        to_i64_vec(&aten::select_backward(&tensor_of_consecutive_integers(2, &[2]), &sizes, 1, 2).unwrap()),
        [0, 0, 0, 0, 0, 1]
    );
    let sliced = aten::slice_backward(&tensor_of_consecutive_integers(4, &[2, 2]), &sizes, 1, 0, 3, 2).unwrap();
    assert_eq!(to_i64_vec(&sliced), [0, 0, 1, 2, 0, 3]);
    let diagonal = aten::diagonal_backward(&tensor_of_consecutive_integers(2, &[2]), &sizes, 1, 0, 1).unwrap();
    assert_eq!(to_i64_vec(&diagonal), [0, 0, 0, 0, 0, 1]);
    let windows = aten::unfold_backward(&tensor_of_consecutive_integers(6, &[3, 2]), &[4], 0, 2, 1).unwrap();
    assert_eq!(to_i64_vec(&windows), [0, 1 + 2, 3 + 4, 5]);
    let rows = aten::index_select_backward(
        &tensor_of_consecutive_integers(3, &[3]),
        &[4],
        0,
        &Tensor::from_slice(&[1_i64, 1, 3]),
    )
    .unwrap();
    assert_eq!(to_i64_vec(&rows), [0, 1, 0, 2]);
}

#[test]
fn internal_overlap_is_known_for_dense_and_for_repeated_elements() {
    let whole = tensor_of_consecutive_integers(20, &[20]);
    let overlap = |sizes: &[i64], strides: &[i64]| {
        aten::_debug_has_internal_overlap(&aten::as_strided(&whole, sizes, strides, None).unwrap()).unwrap()
    };
    assert_eq!([overlap(&[2, 3], &[3, 1]), overlap(&[2, 3], &[1, 2]), overlap(&[0, 5], &[0, 2])], [0; 3]);
    assert_eq!([overlap(&[3], &[0]), overlap(&[2, 3], &[1, 0])], [1; 2]);
    assert_eq!([overlap(&[4], &[2]), overlap(&[2, 2], &[1, 1])], [2; 2]);
}
