//! Tests of large inputs: several tiles, several launches, and the loops for long lines. The CPU backend gives the expected results.

use dispatch_runtime::Geometry;
use dispatch_runtime::prelude::*;

use crate::attention::assert_attention_is_accurate;
use crate::{ReverseThreadOrderGuard, copy_to_device, lock_free_device};

fn contiguous_view(tensor: &Tensor, sizes: &[i64]) -> Tensor {
    tensor.restride(Geometry::contiguous(sizes)).unwrap()
}

/// Returns numbers with many duplicates, some NaN and both zeros.
fn numbers_with_duplicates(count: usize, kinds: u64) -> Tensor {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % kinds
    };
    let number = |kind: u64| match kind {
        0 => f32::NAN,
        1 => -0.0,
        2 => 0.0,
        #[expect(clippy::cast_precision_loss, reason = "the exact values do not matter")]
        kind => kind as f32 / 4.0 - 100.0,
    };
    Tensor::from((0..count).map(|_| number(next())).collect::<Vec<f32>>())
}

fn indices_below(count: i64, below: i64) -> Tensor {
    Tensor::from_slice(&(0..count).map(|i| (i * i + 7 * i) % below).collect::<Vec<i64>>())
}

/// Checks that two tensors have the same elements, where NaN equals NaN.
fn assert_equal_with_nan(found: &Tensor, expected: &Tensor, case: &str) {
    assert_eq!(found.sizes(), expected.sizes(), "{case}");
    let bits = |tensor: &Tensor| {
        let wide = aten::to_dtype(&copy_to_device(tensor, Device::CPU), DType::F64, false, true, None).unwrap();
        let wide = aten::contiguous(&wide, dispatch_runtime::MemoryFormat::Contiguous).unwrap();
        wide.to_vec::<f64>()
            .unwrap()
            .into_iter()
            .map(|x| if x.is_nan() { u64::MAX } else { x.to_bits() })
            .collect::<Vec<_>>()
    };
    assert!(bits(found) == bits(expected), "{case}");
}

#[test]
fn long_lines_sort_and_select_as_on_the_cpu() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    let all = contiguous_view(&numbers_with_duplicates(2 * 5001, 3000), &[2, 5001]);
    for (number, dtype) in [DType::F32, DType::BF16, DType::I64, DType::U8].into_iter().enumerate() {
        let _order = ReverseThreadOrderGuard::set(number % 2 == 1);
        let line = if dtype.is_floating() { all.clone() } else { aten::nan_to_num(&all, None, None, None).unwrap() };
        let line = aten::to_dtype(&line, dtype, false, true, None).unwrap();
        let there = copy_to_device(&line, cuda);
        for descending in [false, true] {
            let (values, places) = aten::sort(&there, 1, descending).unwrap();
            let (expected, expected_places) = aten::sort(&line, 1, descending).unwrap();
            assert_equal_with_nan(&values, &expected, &format!("{dtype}"));
            assert_equal_with_nan(&places, &expected_places, &format!("{dtype}, places"));
            for k in [37, 3000] {
                let (_, places) = aten::topk(&there, k, 1, descending, true).unwrap();
                let (_, expected) = aten::topk(&line, k, 1, descending, true).unwrap();
                assert_equal_with_nan(&places, &expected, &format!("{k} of {dtype}"));
            }
        }
        for k in [1, 4000] {
            let (_, place) = aten::kthvalue(&there, k, 1, false).unwrap();
            assert_equal_with_nan(&place, &aten::kthvalue(&line, k, 1, false).unwrap().1, &format!("{k} of {dtype}"));
        }
        for (case, found, expected) in [
            ("median", aten::median_dim(&there, 1, false), aten::median_dim(&line, 1, false)),
            ("median of numbers", aten::nanmedian_dim(&there, 1, false), aten::nanmedian_dim(&line, 1, false)),
            ("mode", aten::mode(&there, 1, false), aten::mode(&line, 1, false)),
        ] {
            assert_equal_with_nan(&found.unwrap().1, &expected.unwrap().1, &format!("{case} of {dtype}"));
        }
    }
}

#[test]
fn masked_elements_of_many_blocks_equal_the_cpu() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    let _order = ReverseThreadOrderGuard::set(true);
    let here = contiguous_view(&numbers_with_duplicates(3 * 20_011, 9), &[3, 20_011]);
    let there = copy_to_device(&here, cuda);
    assert_equal_with_nan(&aten::nonzero(&there).unwrap(), &aten::nonzero(&here).unwrap(), "positions");
    let mask = aten::gt_scalar(&here, (-99.0).into()).unwrap();
    let (turned, turned_mask) = (aten::t(&here).unwrap(), aten::t(&mask).unwrap());
    let picked =
        aten::masked_select(&aten::t(&there).unwrap(), &aten::t(&copy_to_device(&mask, cuda)).unwrap()).unwrap();
    assert_equal_with_nan(&picked, &aten::masked_select(&turned, &turned_mask).unwrap(), "elements");
    let source = numbers_with_duplicates(60_033, 777);
    let replaced = aten::masked_scatter(&there, &copy_to_device(&mask, cuda), &copy_to_device(&source, cuda)).unwrap();
    assert_equal_with_nan(&replaced, &aten::masked_scatter(&here, &mask, &source).unwrap(), "replaced");
    let found = aten::_unique2(&there, true, true, true).unwrap();
    let expected = aten::_unique2(&here, true, true, true).unwrap();
    assert_equal_with_nan(&found.0, &expected.0, "kinds");
    assert_equal_with_nan(&found.1, &expected.1, "which kind");
    assert_equal_with_nan(&found.2, &expected.2, "how many");
    let rows = contiguous_view(&numbers_with_duplicates(4000, 6), &[1000, 4]);
    let found = aten::unique_dim(&copy_to_device(&rows, cuda), 0, true, true, true).unwrap();
    let expected = aten::unique_dim(&rows, 0, true, true, true).unwrap();
    assert_equal_with_nan(&found.0, &expected.0, "rows");
    assert_equal_with_nan(&found.1, &expected.1, "which row");
}

/// Returns small integers, whose sums are exact in any order.
fn integers_with_exact_sums(count: i64, sizes: &[i64]) -> Tensor {
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let numbers = (0..count).map(|i| (i % 17 - 8) as f32).collect::<Vec<f32>>();
    contiguous_view(&Tensor::from(numbers), sizes)
}

#[test]
fn rows_of_equal_index_are_added_across_tiles() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    for (number, (rows, below)) in
        [(31, 1), (32, 40), (33, 2), (700, 3), (5000, 900), (3000, 1)].into_iter().enumerate()
    {
        let _order = ReverseThreadOrderGuard::set(number % 2 == 1);
        let (grad, list) = (integers_with_exact_sums(rows * 6, &[rows, 6]), indices_below(rows, below));
        let (there, list_there) = (copy_to_device(&grad, cuda), copy_to_device(&list, cuda));
        let found = aten::embedding_dense_backward(&there, &list_there, below, 0, false).unwrap();
        let expected = aten::embedding_dense_backward(&grad, &list, below, 0, false).unwrap();
        assert_equal_with_nan(&found, &expected, &format!("{rows} to {below}"));
        let this = integers_with_exact_sums(below * 12, &[2, below, 6]);
        let values = integers_with_exact_sums(2 * rows * 6, &[2, rows, 6]);
        let put = |this: &Tensor, list: &Tensor, values: &Tensor| {
            aten::index_put(this, &[None, Some(list.clone())], values, true).unwrap()
        };
        let found = put(&copy_to_device(&this, cuda), &list_there, &copy_to_device(&values, cuda));
        assert_equal_with_nan(&found, &put(&this, &list, &values), &format!("{rows} put to {below}"));
    }
}

#[test]
fn index_with_many_lists_equals_the_cpu() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    let this = integers_with_exact_sums(3 * 4 * 2 * 5 * 3 * 2 * 4, &[3, 4, 2, 5, 3, 2, 4]);
    let lists: Vec<Tensor> = [3, 4, 2, 5, 3, 2].iter().map(|&size| indices_below(50, size)).collect();
    let index = |this: &Tensor, device: Device| {
        let lists: Vec<_> = lists.iter().map(|list| Some(copy_to_device(list, device))).collect();
        aten::index(this, &lists).unwrap()
    };
    assert_equal_with_nan(&index(&copy_to_device(&this, cuda), cuda), &index(&this, Device::CPU), "six lists");
}

#[test]
fn cat_of_many_tensors_equals_the_cpu() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    let parts: Vec<Tensor> = (0..150).map(|i| integers_with_exact_sums(3 * (1 + i % 5), &[3, 1 + i % 5])).collect();
    let there: Vec<Tensor> = parts.iter().map(|part| copy_to_device(part, cuda)).collect();
    assert_equal_with_nan(&aten::cat(&there, 1).unwrap(), &aten::cat(&parts, 1).unwrap(), "many parts");
}

/// Returns small integers, whose products' sums are exact in any order.
fn integers_with_exact_products(sizes: &[i64], dtype: DType) -> Tensor {
    let count = sizes.iter().product::<i64>();
    let line: Vec<i64> = (0..count).map(|i| (i * i * 7 + i * 3 + i / 11) % 7 - 3).collect();
    aten::to_dtype(&contiguous_view(&Tensor::from(line), sizes), dtype, false, true, None).unwrap()
}

#[test]
fn large_matrix_products_equal_the_cpu() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    for (number, dtype) in [DType::F32, DType::F64, DType::BF16, DType::I8].into_iter().enumerate() {
        let _order = ReverseThreadOrderGuard::set(number % 2 == 1);
        for [rows, inner, columns] in [[300, 40, 270], [70, 2000, 33], [1, 9000, 5], [40, 3000, 1], [257, 17, 1]] {
            let case = format!("{rows} {inner} {columns} of {dtype}");
            let (a, b) = (
                integers_with_exact_products(&[rows, inner], dtype),
                integers_with_exact_products(&[inner, columns], dtype),
            );
            let turned = aten::t(&integers_with_exact_products(&[columns, inner], dtype)).unwrap();
            let row = integers_with_exact_products(&[columns], dtype);
            for b in [b, turned] {
                let there = (copy_to_device(&a, cuda), copy_to_device(&b, cuda), copy_to_device(&row, cuda));
                assert_equal_with_nan(&aten::mm(&there.0, &there.1).unwrap(), &aten::mm(&a, &b).unwrap(), &case);
                let found = aten::addmm(&there.2, &there.0, &there.1, 2.into(), 3.into()).unwrap();
                assert_equal_with_nan(&found, &aten::addmm(&row, &a, &b, 2.into(), 3.into()).unwrap(), &case);
            }
        }
        let (a, b) =
            (integers_with_exact_products(&[3, 70, 30], dtype), integers_with_exact_products(&[3, 30, 65], dtype));
        assert_equal_with_nan(
            &aten::bmm(&copy_to_device(&a, cuda), &copy_to_device(&b, cuda)).unwrap(),
            &aten::bmm(&a, &b).unwrap(),
            "items",
        );
    }
}

/// A convolution: the sizes of the image and the weight; stride, padding, dilation and groups.
type ConvolutionCase = (&'static [i64], &'static [i64], [i64; 4]);

#[test]
fn large_convolutions_equal_the_cpu() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    let cases: [ConvolutionCase; 6] = [
        (&[2, 70, 24, 24], &[140, 70, 3, 3], [2, 1, 1, 1]),
        (&[1, 64, 10, 10], &[8, 64, 3, 3], [1, 2, 2, 1]),
        (&[2, 6, 20, 20], &[12, 1, 3, 5], [1, 2, 1, 6]),
        (&[2, 40, 9, 9], &[64, 20, 2, 2], [1, 0, 1, 2]),
        (&[3, 20, 7, 7], &[30, 20, 1, 1], [1, 0, 1, 1]),
        (&[2, 3, 6, 7, 8], &[4, 3, 3, 2, 3], [2, 1, 1, 1]),
    ];
    for (number, (input, weight, [stride, padding, dilation, groups])) in cases.into_iter().enumerate() {
        let _order = ReverseThreadOrderGuard::set(number % 2 == 1);
        for dtype in [DType::F32, DType::F64] {
            let case = format!("{input:?} and {weight:?} of {dtype}");
            let (x, w, b) = (
                integers_with_exact_products(input, dtype),
                integers_with_exact_products(weight, dtype),
                integers_with_exact_products(&weight[..1], dtype),
            );
            let convolved = |x: &Tensor, w: &Tensor, b: &Tensor| {
                aten::convolution(x, w, Some(b), &[stride], &[padding], &[dilation], false, &[0], groups).unwrap()
            };
            let expected = convolved(&x, &w, &b);
            assert_equal_with_nan(
                &convolved(&copy_to_device(&x, cuda), &copy_to_device(&w, cuda), &copy_to_device(&b, cuda)),
                &expected,
                &case,
            );
            let grads = integers_with_exact_products(expected.sizes(), dtype);
            let gradients = |grads: &Tensor, x: &Tensor, w: &Tensor| {
                let window = ([stride], [padding], [dilation]);
                let wanted = [true, true, false];
                aten::convolution_backward(
                    grads,
                    x,
                    w,
                    None,
                    &window.0,
                    &window.1,
                    &window.2,
                    false,
                    &[0],
                    groups,
                    &wanted,
                )
                .unwrap()
            };
            let (found, expected) = (
                gradients(&copy_to_device(&grads, cuda), &copy_to_device(&x, cuda), &copy_to_device(&w, cuda)),
                gradients(&grads, &x, &w),
            );
            assert_equal_with_nan(&found.0, &expected.0, &format!("the input's gradient, {case}"));
            assert_equal_with_nan(&found.1, &expected.1, &format!("the weight's gradient, {case}"));
        }
    }
}

#[test]
fn large_attention_equals_double_precision() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    for (number, (dtype, width, is_causal)) in [
        (DType::F32, 40, true),
        (DType::F64, 100, false),
        (DType::F16, 64, false),
        (DType::BF16, 128, true),
        (DType::F32, 200, true),
    ]
    .into_iter()
    .enumerate()
    {
        let _order = ReverseThreadOrderGuard::set(number % 2 == 1);
        let case = format!("{width} of {dtype}");
        let part = |sizes: &[i64]| aten::mul_scalar(&integers_with_exact_products(sizes, dtype), 0.25.into()).unwrap();
        let (query, key, value) = (part(&[1, 4, 150, width]), part(&[1, 2, 170, width]), part(&[1, 2, 170, width]));
        let mask = (!is_causal).then(|| part(&[150, 170]));
        let grads = part(query.sizes());
        let there = [&query, &key, &value, &grads].map(|tensor| copy_to_device(tensor, cuda));
        let mask = mask.map(|mask| copy_to_device(&mask, cuda));
        assert_attention_is_accurate(&case, there.each_ref(), mask.as_ref(), is_causal, None);
    }
}
