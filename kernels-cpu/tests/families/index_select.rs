//! Tests of `index_select`.

use dispatch_runtime::{Geometry, Tensor};

#[test]
fn index_select_works_across_several_chunks_of_indices() {
    let elements: Vec<i64> = (0..2 * 7 * 3).collect();
    let this = Tensor::from_slice(&elements).restride(Geometry::contiguous(&[2, 7, 3])).unwrap();
    let count = (1 << 14) + 5;
    let list: Vec<i64> = (0..count).map(|i| i * 3 % 7).collect();
    let picked = aten::index_select(&this, 1, &Tensor::from_slice(&list)).unwrap();
    assert_eq!(picked.sizes(), [2, count, 3]);
    let rows = (0..2).flat_map(|matrix| list.iter().map(move |row| (matrix * 7 + row) * 3));
    let expected: Vec<i64> = rows.flat_map(|first| first..first + 3).collect();
    assert!(picked.to_vec::<i64>().unwrap() == expected);
}
