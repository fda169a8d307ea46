//! Checks that the sizes of queries, keys, values and masks agree.

use dispatch_runtime::{BadArgument, Tensor, broadcast};

use crate::{check_batch_dims_broadcast, check_dims_by_letter, check_same_device};

/// Refuses keys, values and a mask whose sizes do not agree with the queries. [`check_head_counts`] checks grouped heads.
pub(super) fn check_attention_sizes(
    query: &Tensor,
    key: &Tensor,
    value: &Tensor,
    attn_mask: Option<&Tensor>,
    enable_gqa: bool,
) -> Result<(), BadArgument> {
    check_same_device([("query", query), ("key", key), ("value", value), ("attn_mask", attn_mask.unwrap_or(query))])?;
    check_dims_by_letter(&[("query", Some(query), "*le"), ("key", Some(key), "*se"), ("value", Some(value), "*sv")])?;
    if enable_gqa {
        return check_head_counts(query, key, value);
    }
    check_batch_dims_broadcast(("query", query), ("key", key))?;
    check_batch_dims_broadcast(("key", key), ("value", value))?;
    let Some(mask) = attn_mask else { return Ok(()) };
    let (rows, columns) = (query.sizes(), key.sizes());
    let batch = broadcast([&rows[..rows.len() - 2], &columns[..columns.len() - 2]]).unwrap_or_default();
    let products = [&batch[..], &[rows[rows.len() - 2], columns[columns.len() - 2]]].concat();
    if broadcast([mask.sizes(), &products[..]]).is_ok() {
        return Ok(());
    }
    let expected = format!(
        "sizes that broadcast with {products:?}, as `query` has sizes {rows:?} and `key` has sizes {columns:?}"
    );
    Err(BadArgument::sizes("attn_mask", mask.sizes(), expected))
}

/// Checks that the head counts of keys and values divide the head count of the queries.
fn check_head_counts(query: &Tensor, key: &Tensor, value: &Tensor) -> Result<(), BadArgument> {
    for (name, tensor) in [("query", query), ("key", key), ("value", value)] {
        let (&[.., own, _, _], &[.., heads, _, _]) = (tensor.sizes(), query.sizes()) else {
            return Err(BadArgument::rank(name, tensor.sizes().len(), 3..).because("`enable_gqa` is true"));
        };
        if own < 1 || heads % own != 0 {
            let expected = format!("a number of heads that divides {heads}, as `query` has sizes {:?}", query.sizes());
            return Err(BadArgument::sizes(name, tensor.sizes(), expected));
        }
    }
    Ok(())
}
