//! Tests of scatter and index reductions: the order of additions, and elements without an index.

use dispatch_runtime::Geometry;
use dispatch_runtime::Tensor;

const SOURCE_ROW_COUNT: i64 = 3000;
const COLUMN_COUNT: i64 = 64;
const TARGET_ROW_COUNT: i64 = 10;

fn usize_from_i64(place: i64) -> usize {
    usize::try_from(place).unwrap()
}

fn contiguous_view(tensor: &Tensor, sizes: &[i64]) -> Tensor {
    tensor.restride(Geometry::contiguous(sizes)).unwrap()
}

/// Returns numbers whose sum depends on the order.
fn numbers_with_order_dependent_sum() -> Vec<f32> {
    (0_u16..3000).flat_map(|row| (0_u16..64).map(move |col| 1.0 / (1.0 + f32::from(row * 7 % 1013 + col)))).collect()
}

#[test]
fn scatter_add_adds_in_order() {
    let src = numbers_with_order_dependent_sum();
    let target = |place: i64| (place / COLUMN_COUNT * 31 + place % COLUMN_COUNT) % TARGET_ROW_COUNT;
    let index: Vec<i64> = (0..SOURCE_ROW_COUNT * COLUMN_COUNT).map(target).collect();
    let mut expected = vec![0.5_f32; usize_from_i64(TARGET_ROW_COUNT * COLUMN_COUNT)];
    for (place, src) in (0..).zip(&src) {
        expected[usize_from_i64(target(place) * COLUMN_COUNT + place % COLUMN_COUNT)] += src;
    }
    let this = contiguous_view(
        &Tensor::from(vec![0.5_f32; usize_from_i64(TARGET_ROW_COUNT * COLUMN_COUNT)]),
        &[TARGET_ROW_COUNT, COLUMN_COUNT],
    );
    let (src, index) = (Tensor::from_slice(&src), Tensor::from_slice(&index));
    let (src, index) = (
        contiguous_view(&src, &[SOURCE_ROW_COUNT, COLUMN_COUNT]),
        contiguous_view(&index, &[SOURCE_ROW_COUNT, COLUMN_COUNT]),
    );
    let sum = aten::scatter_add(&this, 0, &index, &src).unwrap();
    assert_eq!(sum.to_vec::<f32>().unwrap(), expected);
    // Repeats the check with the dimension innermost, in another layout.
    let turn = |tensor: &Tensor| aten::t(tensor).unwrap();
    let sum = aten::scatter_add(&turn(&this), 1, &turn(&index), &turn(&src)).unwrap();
    assert_eq!(turn(&sum).to_vec::<f32>().unwrap(), expected);
}

#[test]
fn broadcast_indices_equal_materialized_indices() {
    let this = contiguous_view(&Tensor::from((0..40_u8).map(f32::from).collect::<Vec<f32>>()), &[8, 5]);
    let src = contiguous_view(&Tensor::from((0..30_u8).map(|x| 0.5 * f32::from(x)).collect::<Vec<f32>>()), &[6, 5]);
    let line = contiguous_view(&Tensor::from_slice(&[3_i64, 0, 3, 7]), &[4, 1]);
    let index = line.restride(Geometry::strided(&[4, 3], &[1, 0], 0).unwrap()).unwrap();
    let written = aten::clone(&index, Some(dispatch_runtime::MemoryFormat::Contiguous)).unwrap();
    for (reduce, include_self) in [("sum", true), ("sum", false), ("mean", true), ("amax", false), ("prod", true)] {
        let reduced = |index: &Tensor| {
            aten::scatter_reduce_two(&this, 0, index, &src, reduce, include_self).unwrap().to_vec::<f32>().unwrap()
        };
        assert_eq!(reduced(&index), reduced(&written), "{reduce}");
    }
    let outside = contiguous_view(&Tensor::from_slice(&[8_i64]), &[1, 1]);
    let outside = outside.restride(Geometry::strided(&[1, 3], &[1, 0], 0).unwrap()).unwrap();
    let error = aten::scatter_add(&this, 0, &outside, &src).unwrap_err().to_string();
    assert!(error.contains("`index`") && error.contains('8'), "{error}");
}

#[test]
fn row_accumulation_adds_in_order() {
    let src = numbers_with_order_dependent_sum();
    let list: Vec<i64> = (0..SOURCE_ROW_COUNT).map(|row| row * 31 % TARGET_ROW_COUNT).collect();
    let mut expected = vec![0.0_f32; usize_from_i64(TARGET_ROW_COUNT * COLUMN_COUNT)];
    for (place, src) in src.iter().enumerate() {
        expected[usize_from_i64(list[place / 64] * COLUMN_COUNT) + place % 64] += src;
    }
    let this = contiguous_view(
        &Tensor::from(vec![0.0_f32; usize_from_i64(TARGET_ROW_COUNT * COLUMN_COUNT)]),
        &[TARGET_ROW_COUNT, COLUMN_COUNT],
    );
    let (src, list) =
        (contiguous_view(&Tensor::from_slice(&src), &[SOURCE_ROW_COUNT, COLUMN_COUNT]), Tensor::from_slice(&list));
    let sum = aten::index_add(&this, 0, &list, &src, 1.into()).unwrap();
    assert_eq!(sum.to_vec::<f32>().unwrap(), expected);
    let sum = aten::index_put(&this, &[Some(list.clone())], &src, true).unwrap();
    assert_eq!(sum.to_vec::<f32>().unwrap(), expected);
    let sum = aten::embedding_dense_backward(&src, &list, TARGET_ROW_COUNT, -1, false).unwrap();
    assert_eq!(sum.to_vec::<f32>().unwrap(), expected);
}

#[test]
fn elements_without_an_index_stay() {
    let (this, index) = (Tensor::from_slice(&[9.0_f32, 9.0, 9.0]), Tensor::from_slice(&[2_i64, 0, 0]));
    let src = Tensor::from_slice(&[1.0_f32, -4.0, 2.0]);
    let reduced = |how: &str, include: bool| {
        aten::scatter_reduce_two(&this, 0, &index, &src, how, include).unwrap().to_vec::<f32>().unwrap()
    };
    assert_eq!(reduced("mean", false), [-1.0, 9.0, 1.0]);
    assert_eq!(reduced("mean", true), [7.0 / 3.0, 9.0, 5.0]);
    assert_eq!(reduced("amax", false), [2.0, 9.0, 1.0]);
    assert_eq!(reduced("prod", false), [-8.0, 9.0, 1.0]);
    let nothing = Tensor::from(Vec::<i64>::new());
    assert_eq!(aten::scatter_add(&this, 0, &nothing, &src).unwrap().to_vec::<f32>().unwrap(), [9.0; 3]);
}

#[test]
fn index_fill_of_a_number_without_indices_writes_nothing() {
    let number = Tensor::from_vec(vec![3.0_f64], ()).unwrap();
    let filled = aten::index_fill_int_scalar(&number, 0, &Tensor::from_slice::<i64>(&[]), 5.into()).unwrap();
    assert_eq!(filled.to_vec::<f64>().unwrap(), [3.0]);
}
