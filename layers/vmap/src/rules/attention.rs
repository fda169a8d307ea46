//! Batch rules of fused attention: the batch of vmap is folded into dimension 0, the operator's own batch dimension.

use dispatch_macros::op_vmap;
use dispatch_runtime::{Result, Tensor};

use crate::batch::{Batch, Mapped};
use crate::shape_words::{fold_batch_into_dim, unfold_mapped_result};

/// Chooses the attention kernel for the first slice, as the choice does not depend on element values.
#[op_vmap(aten::_fused_sdp_choice)]
fn _fused_sdp_choice(_: &Batch, _: ...) -> Result<i64> {
    let mask = attn_mask.map(|mask| mask.first_slice()).transpose()?;
    let (query, key, value) = (query.first_slice()?, key.first_slice()?, value.first_slice()?);
    aten::_fused_sdp_choice(&query, &key, &value, mask.as_ref(), dropout_p, is_causal, scale, enable_gqa)
}

/// Returns the masks of all slices, with the batch folded into dimension 0.
fn fold_masks(batch: &Batch, mask: &Mapped, items: i64) -> Result<Tensor> {
    let repeats = mask.slice_rank() == 2 || mask.first_slice()?.sizes().first() == Some(&1);
    if !mask.is_mapped() && repeats {
        return Ok(mask.tensor().clone());
    }
    let mut each = batch.expand_batch_first(mask)?;
    while each.sizes().len() < 5 {
        each = aten::unsqueeze(&each, 1)?;
    }
    let mut sizes = each.sizes().to_vec();
    sizes[1] = items;
    fold_batch_into_dim(&aten::expand(&each, &sizes, false)?, 0)
}

fn items_per_slice(query: &Mapped) -> Result<i64> {
    Ok(query.first_slice()?.sizes().first().copied().unwrap_or(1))
}

#[op_vmap(aten::_scaled_dot_product_flash_attention_for_cpu)]
fn _scaled_dot_product_flash_attention_for_cpu(batch: &Batch, _: ...) -> Result<(Mapped, Mapped)> {
    let items = items_per_slice(&query)?;
    let mask = attn_mask.map(|mask| fold_masks(batch, &mask, items)).transpose()?;
    let [query, key, value] =
        [query, key, value].map(|tensor| fold_batch_into_dim(&batch.expand_batch_first(&tensor)?, 0));
    let (output, sums) = aten::_scaled_dot_product_flash_attention_for_cpu(
        &query?,
        &key?,
        &value?,
        dropout_p,
        is_causal,
        mask.as_ref(),
        scale,
    )?;
    Ok((unfold_mapped_result(batch, &output, 0)?, unfold_mapped_result(batch, &sums, 0)?))
}

#[op_vmap(aten::_scaled_dot_product_flash_attention_for_cpu_backward)]
fn _scaled_dot_product_flash_attention_for_cpu_backward(batch: &Batch, _: ...) -> Result<(Mapped, Mapped, Mapped)> {
    let items = items_per_slice(&query)?;
    let mask = attn_mask.map(|mask| fold_masks(batch, &mask, items)).transpose()?;
    let all = |tensor: &Mapped| fold_batch_into_dim(&batch.expand_batch_first(tensor)?, 0);
    let (query, key, value) = aten::_scaled_dot_product_flash_attention_for_cpu_backward(
        &all(&grad_out)?,
        &all(&query)?,
        &all(&key)?,
        &all(&value)?,
        &all(&out)?,
        &all(&logsumexp)?,
        dropout_p,
        is_causal,
        mask.as_ref(),
        scale,
    )?;
    let unfold = |tensor: &Tensor| unfold_mapped_result(batch, tensor, 0);
    Ok((unfold(&query)?, unfold(&key)?, unfold(&value)?))
}
