//! Attention of halves, with as many rows, heads and layouts as recordings do not have. What doubles come to on the CPU is the measure.

use dispatch_runtime::prelude::*;

use crate::{Backwards, device, to};

/// How a tensor of attention lies in memory.
#[derive(Clone, Copy, Debug)]
enum Layout {
    /// Heads outside of rows.
    Nested,
    /// Rows outside of heads, as a projection gives them.
    Beside,
    /// Every second column of something larger.
    Apart,
}

/// Numbers between -1 and 1, in what `viewed` makes a tensor of these sizes of.
fn part(seed: u64, sizes: [i64; 4], dtype: DType, layout: Layout) -> Tensor {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut number = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f32::from(u16::try_from(state >> 48).unwrap()) / 32768.0 - 1.0
    };
    let [items, heads, rows, width] = sizes;
    let held = match layout {
        Layout::Nested => sizes,
        Layout::Beside => [items, rows, heads, width],
        Layout::Apart => [items, heads, rows, width * 2],
    };
    let count = held.iter().product::<i64>();
    let all = Tensor::from_vec((0..count).map(|_| number()).collect::<Vec<f32>>(), &held).unwrap();
    aten::to_dtype(&all, dtype, false, true, None).unwrap()
}

fn viewed(all: &Tensor, layout: Layout) -> Tensor {
    match layout {
        Layout::Nested => all.clone(),
        Layout::Beside => aten::transpose_int(all, 1, 2).unwrap(),
        Layout::Apart => aten::slice(all, 3, None, None, 2).unwrap(),
    }
}

struct Case {
    dtype: DType,
    /// Items, heads, groups, rows, keys, width.
    sizes: [i64; 6],
    is_causal: bool,
    /// The dtype and the sizes of a mask.
    mask: Option<(DType, [i64; 4])>,
    scale: Option<f64>,
    layout: Layout,
}

fn near(found: &Tensor, expected: &Tensor, tolerance: f64, what: &str) {
    let found = aten::to_dtype(&to(found, Device::CPU), DType::F64, false, true, None).unwrap();
    let expected = aten::to_dtype(expected, DType::F64, false, true, None).unwrap();
    assert!(aten::allclose(&found, &expected, tolerance, tolerance, false).unwrap(), "{what}");
}

#[test]
fn attention_of_halves_is_that_of_doubles() {
    let Some((cuda, _alone)) = device() else { return };
    let (f16, bf16, f32) = (DType::F16, DType::BF16, DType::F32);
    let plain =
        |dtype, sizes, is_causal| Case { dtype, sizes, is_causal, mask: None, scale: None, layout: Layout::Nested };
    let cases = [
        plain(bf16, [1, 2, 1, 129, 65, 64], false),
        plain(f16, [2, 1, 1, 130, 193, 64], true),
        Case { layout: Layout::Beside, ..plain(bf16, [1, 4, 2, 97, 131, 80], true) },
        Case { layout: Layout::Apart, ..plain(f16, [2, 2, 2, 33, 47, 128], false) },
        Case { mask: Some((bf16, [1, 1, 77, 90])), ..plain(bf16, [2, 2, 1, 77, 90, 128], false) },
        Case { mask: Some((f32, [2, 2, 70, 1])), ..plain(f16, [2, 2, 2, 70, 100, 33], true) },
        Case { scale: Some(-0.3), layout: Layout::Beside, ..plain(f16, [1, 2, 2, 40, 70, 24], false) },
        Case { scale: Some(0.0), ..plain(bf16, [1, 1, 1, 3, 5, 7], false) },
        plain(bf16, [3, 5, 5, 1, 1, 8], true),
        plain(f16, [1, 1, 1, 200, 20, 96], true),
    ];
    for (number, case) in cases.into_iter().enumerate() {
        let _order = Backwards::on(number % 2 == 1);
        let Case { dtype, sizes: [items, heads, groups, rows, keys, width], is_causal, mask, scale, layout } = case;
        let what = format!("case {number}");
        let [query, key, value] =
            [[items, heads, rows, width], [items, groups, keys, width], [items, groups, keys, width]];
        let here = [part(1, query, dtype, layout), part(2, key, dtype, layout), part(3, value, dtype, layout)];
        let mask = mask.map(|(dtype, sizes)| part(4, sizes, dtype, Layout::Nested));
        let wide = |tensor: &Tensor| aten::to_dtype(tensor, DType::F64, false, true, None).unwrap();
        let attend = aten::_scaled_dot_product_flash_attention_for_cpu;
        let [query, key, value] = here.each_ref().map(|tensor| viewed(&wide(tensor), layout));
        let wide_mask = mask.as_ref().map(wide);
        let expected = attend(&query, &key, &value, 0.0, is_causal, wide_mask.as_ref(), scale).unwrap();
        let [query, key, value] = here.each_ref().map(|tensor| viewed(&to(tensor, cuda), layout));
        let mask_there = mask.as_ref().map(|mask| to(mask, cuda));
        let mask_there = mask_there.as_ref();
        let found = attend(&query, &key, &value, 0.0, is_causal, mask_there, scale).unwrap();
        let tolerance = if dtype == f16 { 1e-3 } else { 8e-3 };
        near(&found.0, &expected.0, tolerance, &what);
        near(&found.1, &expected.1, 1e-5, &format!("sums, {what}"));
        let slopes = part(5, [items, heads, rows, width], dtype, Layout::Nested);
        let grads = aten::_scaled_dot_product_flash_attention_for_cpu_backward;
        let (of, slopes_there) = (wide(&slopes), to(&slopes, cuda));
        let [of_query, of_key, of_value] = here.each_ref().map(|tensor| viewed(&wide(tensor), layout));
        let mask = wide_mask.as_ref();
        let (out, sums) = &expected;
        let expected = grads(&of, &of_query, &of_key, &of_value, out, sums, 0.0, is_causal, mask, scale).unwrap();
        let (out, sums) = &found;
        let found = grads(&slopes_there, &query, &key, &value, out, sums, 0.0, is_causal, mask_there, scale).unwrap();
        let tolerance = if dtype == f16 { 4e-3 } else { 3e-2 };
        near(&found.0, &expected.0, tolerance, &format!("the query's gradient, {what}"));
        near(&found.1, &expected.1, tolerance, &format!("the key's gradient, {what}"));
        near(&found.2, &expected.2, tolerance, &format!("the value's gradient, {what}"));
    }
}

#[test]
fn queries_that_see_nothing_come_to_nothing_and_least_numbers_are_no_infinities() {
    let Some((cuda, _alone)) = device() else { return };
    let sizes = [1, 1, 70, 16];
    let [query, key, value] = [1, 2, 3].map(|seed| part(seed, sizes, DType::F16, Layout::Nested));
    let masked = |with: f32| {
        let mask = to(&Tensor::from_vec(vec![with; 70 * 70], &[70, 70]).unwrap(), cuda);
        let attend = aten::_scaled_dot_product_flash_attention_for_cpu;
        attend(&to(&query, cuda), &to(&key, cuda), &to(&value, cuda), 0.0, false, Some(&mask), None).unwrap()
    };
    let (out, sums) = masked(f32::NEG_INFINITY);
    near(&out, &aten::zeros_like(&value, None, None, None, None, None).unwrap(), 0.0, "nothing");
    near(&sums, &aten::zeros(&[1, 1, 70], Some(DType::F32), None, None, None).unwrap(), 0.0, "the sums of nothing");
    // The products are lost beside such numbers, so every key counts alike.
    let (out, sums) = masked(f32::MIN);
    let mean = aten::mean_dim(&value, Some(&[2]), true, Some(DType::F32)).unwrap();
    near(&out, &aten::expand(&mean, &sizes, false).unwrap(), 1e-3, "the mean");
    assert!(to(&sums, Device::CPU).to_vec::<f32>().unwrap().iter().all(|sum| sum.to_bits() == f32::MIN.to_bits()));
}
