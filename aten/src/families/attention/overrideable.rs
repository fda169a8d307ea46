//! Attention for backends of other crates, which register a kernel of it.

use dispatch_runtime::prelude::*;

use crate::missing_kernel_error;

/// Scaled dot-product attention, with what its backward pass needs, for backends of other crates. Without a kernel, it is an error.
#[op_def(
    "_scaled_dot_product_fused_attention_overrideable(Tensor query, Tensor key, Tensor value, Tensor? attn_bias=None, float dropout_p=0., bool is_causal=False, bool return_debug_mask=False, *, float? scale=None) -> (Tensor output, Tensor logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt max_k, Tensor philox_seed, Tensor philox_offset, Tensor debug_attn_mask)"
)]
pub fn _scaled_dot_product_fused_attention_overrideable(
    _: ...
) -> Result<(Tensor, Tensor, Tensor, Tensor, i64, i64, Tensor, Tensor, Tensor)> {
    let _ = (key, value, attn_bias, dropout_p, is_causal, return_debug_mask, scale);
    Err(missing_kernel_error("query", query).into())
}

/// The gradients of [`_scaled_dot_product_fused_attention_overrideable`], for backends of other crates.
#[op_def(
    "_scaled_dot_product_fused_attention_overrideable_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor attn_bias, bool[4] grad_input_mask, Tensor out, Tensor logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt max_k, float dropout_p, bool is_causal, Tensor philox_seed, Tensor philox_offset, *, float? scale=None) -> (Tensor grad_query, Tensor grad_key, Tensor grad_value, Tensor grad_attn_bias)"
)]
pub fn _scaled_dot_product_fused_attention_overrideable_backward(_: ...) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
    let _ = (grad_out, key, value, attn_bias, grad_input_mask, out, logsumexp, cum_seq_q, cum_seq_k, max_q, max_k);
    let _ = (dropout_p, is_causal, philox_seed, philox_offset, scale);
    Err(missing_kernel_error("query", query).into())
}
