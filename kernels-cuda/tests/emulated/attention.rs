//! Tests of half-precision attention, with numbers of rows and heads and layouts that the recordings lack. The expected results are
//! computed in double precision on the CPU.

use dispatch_runtime::prelude::*;

use crate::error_bound::{NudgedArguments, assert_within_error_bound, elements_as_f64, max_distance, unit_roundoff};
use crate::{ReverseThreadOrderGuard, copy_to_device, lock_free_device};

/// The memory layout of an attention operand.
#[derive(Clone, Copy, Debug)]
enum HeadLayout {
    /// Contiguous: heads are outside of rows.
    HeadsOutside,
    /// Rows are outside of heads, as a projection returns them.
    RowsOutside,
    /// Every second column of a larger tensor.
    StridedColumns,
}

/// Returns random numbers between -1 and 1, with these sizes and in this layout.
fn random_tensor(seed: u64, sizes: [i64; 4], dtype: DType, layout: HeadLayout) -> Tensor {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut number = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f32::from(u16::try_from(state >> 48).unwrap()) / 32768.0 - 1.0
    };
    let [items, heads, rows, width] = sizes;
    let held = match layout {
        HeadLayout::HeadsOutside => sizes,
        HeadLayout::RowsOutside => [items, rows, heads, width],
        HeadLayout::StridedColumns => [items, heads, rows, width * 2],
    };
    let count = held.iter().product::<i64>();
    let all = Tensor::from_vec((0..count).map(|_| number()).collect::<Vec<f32>>(), held).unwrap();
    aten::to_dtype(&all, dtype, false, true, None).unwrap()
}

fn view_as_heads(all: &Tensor, layout: HeadLayout) -> Tensor {
    match layout {
        HeadLayout::HeadsOutside => all.clone(),
        HeadLayout::RowsOutside => aten::transpose_int(all, 1, 2).unwrap(),
        HeadLayout::StridedColumns => aten::slice(all, 3, None, None, 2).unwrap(),
    }
}

struct AttentionCase {
    dtype: DType,
    /// The numbers of items, heads, groups, rows and keys, and the width.
    sizes: [i64; 6],
    is_causal: bool,
    /// The dtype and the sizes of the mask, if there is one.
    mask: Option<(DType, [i64; 4])>,
    scale: Option<f64>,
    layout: HeadLayout,
}

/// Checks the results and gradients of attention on a device against double precision.
pub(crate) fn assert_attention_is_accurate(
    case: &str,
    [query, key, value, grad_output]: [&Tensor; 4],
    mask: Option<&Tensor>,
    is_causal: bool,
    scale: Option<f64>,
) {
    let is_half = matches!(query.dtype(), DType::F16 | DType::BF16);
    // In half precision, weights are rounded before they are multiplied by values. The logsumexp is in single precision.
    let forward = if is_half { NudgedArguments::ForEachResult(&[Some(2), None]) } else { NudgedArguments::All };
    let mut arguments = vec![query, key, value];
    arguments.extend(mask);
    let found = assert_within_error_bound(case, &arguments, forward, |x| {
        let attend = aten::_scaled_dot_product_flash_attention_for_cpu;
        let (out, sums) = attend(&x[0], &x[1], &x[2], 0.0, is_causal, x.get(3), scale)?;
        Ok(vec![out, sums])
    });
    // Rounded numbers are multiplied by the key for the query's gradient, by the query for the key's, and by the cotangent for the value's.
    let backward =
        if is_half { NudgedArguments::ForEachResult(&[Some(1), Some(0), Some(5)]) } else { NudgedArguments::All };
    let mut arguments = vec![query, key, value, &found[0], &found[1], grad_output];
    arguments.extend(mask);
    assert_within_error_bound(&format!("gradients, {case}"), &arguments, backward, |x| {
        let gradients = aten::_scaled_dot_product_flash_attention_for_cpu_backward;
        let (of_query, of_key, of_value) =
            gradients(&x[5], &x[0], &x[1], &x[2], &x[3], &x[4], 0.0, is_causal, x.get(6), scale)?;
        Ok(vec![of_query, of_key, of_value])
    });
}

#[test]
fn half_precision_attention_equals_double_precision() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    let (f16, bf16, f32) = (DType::F16, DType::BF16, DType::F32);
    let plain = |dtype, sizes, is_causal| AttentionCase {
        dtype,
        sizes,
        is_causal,
        mask: None,
        scale: None,
        layout: HeadLayout::HeadsOutside,
    };
    let cases = [
        plain(bf16, [1, 2, 1, 129, 65, 64], false),
        plain(f16, [2, 1, 1, 130, 193, 64], true),
        AttentionCase { layout: HeadLayout::RowsOutside, ..plain(bf16, [1, 4, 2, 97, 131, 80], true) },
        AttentionCase { layout: HeadLayout::StridedColumns, ..plain(f16, [2, 2, 2, 33, 47, 128], false) },
        AttentionCase { mask: Some((bf16, [1, 1, 77, 90])), ..plain(bf16, [2, 2, 1, 77, 90, 128], false) },
        AttentionCase { mask: Some((f32, [2, 2, 70, 1])), ..plain(f16, [2, 2, 2, 70, 100, 33], true) },
        AttentionCase {
            scale: Some(-0.3),
            layout: HeadLayout::RowsOutside,
            ..plain(f16, [1, 2, 2, 40, 70, 24], false)
        },
        AttentionCase { scale: Some(0.0), ..plain(bf16, [1, 1, 1, 3, 5, 7], false) },
        plain(bf16, [3, 5, 5, 1, 1, 8], true),
        plain(f16, [1, 1, 1, 200, 20, 96], true),
    ];
    for (number, case) in cases.into_iter().enumerate() {
        let _order = ReverseThreadOrderGuard::set(number % 2 == 1);
        let AttentionCase { dtype, sizes: [items, heads, groups, rows, keys, width], is_causal, mask, scale, layout } =
            case;
        let case = format!("case {number}");
        let [query, key, value] =
            [[items, heads, rows, width], [items, groups, keys, width], [items, groups, keys, width]];
        let here = [
            random_tensor(1, query, dtype, layout),
            random_tensor(2, key, dtype, layout),
            random_tensor(3, value, dtype, layout),
        ];
        let mask = mask.map(|(dtype, sizes)| random_tensor(4, sizes, dtype, HeadLayout::HeadsOutside));
        let [query, key, value] = here.each_ref().map(|tensor| view_as_heads(&copy_to_device(tensor, cuda), layout));
        let mask = mask.map(|mask| copy_to_device(&mask, cuda));
        let grad_output =
            copy_to_device(&random_tensor(5, [items, heads, rows, width], dtype, HeadLayout::HeadsOutside), cuda);
        assert_attention_is_accurate(&case, [&query, &key, &value, &grad_output], mask.as_ref(), is_causal, scale);
    }
}

#[test]
fn fully_masked_queries_give_zeros_unless_the_mask_is_finite() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    let sizes = [1, 1, 70, 16];
    let [query, key, value] = [1, 2, 3].map(|seed| random_tensor(seed, sizes, DType::F16, HeadLayout::HeadsOutside));
    let there = [&query, &key, &value].map(|tensor| copy_to_device(tensor, cuda));
    let masked = |with: f32| {
        let mask = copy_to_device(&Tensor::from_vec(vec![with; 70 * 70], [70, 70]).unwrap(), cuda);
        let [query, key, value] = &there;
        assert_within_error_bound(
            "a mask",
            &[query, key, value, &mask],
            NudgedArguments::ForEachResult(&[Some(2), None]),
            |x| {
                let attend = aten::_scaled_dot_product_flash_attention_for_cpu;
                let (out, sums) = attend(&x[0], &x[1], &x[2], 0.0, false, x.get(3), None)?;
                Ok(vec![out, sums])
            },
        )
    };
    for nothing in masked(f32::NEG_INFINITY) {
        assert!(elements_as_f64(&nothing).iter().all(|&x| x == 0.0));
    }
    // A mask of the most negative number absorbs the scores that it is added to, so every key has the same weight.
    let least = masked(f32::MIN);
    let mean = aten::mean_dim(&value, Some(&[2]), true, Some(DType::F64)).unwrap();
    let spread =
        max_distance(&elements_as_f64(&least[0]), &elements_as_f64(&aten::expand(&mean, &sizes, false).unwrap()));
    assert!(spread <= unit_roundoff(DType::F16), "{spread}");
    assert!(elements_as_f64(&least[1]).iter().all(|sum| sum.to_bits() == f64::from(f32::MIN).to_bits()));
}
