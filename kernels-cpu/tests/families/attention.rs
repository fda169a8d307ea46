//! Tests of attention over views of a projection, as models compute it.
#![expect(clippy::many_single_char_names, reason = "the names of the formulas")]

use dispatch_runtime::MemoryFormat;
use dispatch_runtime::prelude::*;

const ITEMS: i64 = 3;
const ROWS: i64 = 130;
const HEADS: i64 = 5;
const WIDTH: i64 = 20;

/// Returns query, key and value as views of one tensor, in which the heads of a row are adjacent.
fn heads_of_projection(dtype: DType) -> Result<Vec<Tensor>> {
    let count = ITEMS * ROWS * 3 * HEADS * WIDTH;
    let values = (0..u32::try_from(count).unwrap_or(0)).map(|i| (f64::from(i) * 1.7).sin() * 2.0);
    let projection = Tensor::from_vec(values.collect::<Vec<f64>>(), [ITEMS, ROWS, 3 * HEADS * WIDTH])?;
    let parts = aten::split(&aten::to_dtype(&projection, dtype, false, false, None)?, HEADS * WIDTH, 2)?;
    let heads = |part: &Tensor| aten::transpose_int(&aten::view(part, &[ITEMS, ROWS, HEADS, WIDTH])?, 1, 2);
    parts.iter().map(heads).collect()
}

/// Computes attention, and the gradients for a gradient of the result that is the query.
fn attention_and_gradients(heads: &[Tensor]) -> Result<[Tensor; 5]> {
    let [q, k, v] = heads else { return Err("attention has three inputs".into()) };
    let (out, sums) = aten::_scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, true, None, None)?;
    let (a, b, c) =
        aten::_scaled_dot_product_flash_attention_for_cpu_backward(q, q, k, v, &out, &sums, 0.0, true, None, None)?;
    Ok([out, sums, a, b, c])
}

fn elements(tensor: &Tensor) -> Result<Vec<f64>> {
    aten::to_dtype(tensor, DType::F64, false, false, None)?.to_vec()
}

#[test]
fn each_head_is_computed_as_if_it_were_alone() -> Result<()> {
    for dtype in [DType::F32, DType::BF16] {
        let heads = heads_of_projection(dtype)?;
        let together = attention_and_gradients(&heads)?;
        for (item, head) in (0..ITEMS).flat_map(|item| (0..HEADS).map(move |head| (item, head))) {
            let alone = |tensor: &Tensor| aten::narrow(&aten::narrow(tensor, 0, item, 1)?, 1, head, 1);
            let copies = heads.iter().map(|tensor| aten::clone(&alone(tensor)?, Some(MemoryFormat::Contiguous)));
            for (all, one) in together.iter().zip(attention_and_gradients(&copies.collect::<Result<Vec<_>>>()?)?) {
                // The same sums in the same order: strides change no bit.
                assert_eq!(elements(&alone(all)?)?, elements(&one)?, "{dtype}, item {item}, head {head}");
            }
        }
    }
    Ok(())
}

#[test]
fn the_result_of_heads_of_a_projection_has_adjacent_heads() -> Result<()> {
    let [out, ..] = attention_and_gradients(&heads_of_projection(DType::F32)?)?;
    assert_eq!(out.strides(), [ROWS * HEADS * WIDTH, WIDTH, HEADS * WIDTH, 1]);
    Ok(())
}
