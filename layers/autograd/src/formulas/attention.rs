//! Gradient formulas of attention.

use dispatch_runtime::prelude::*;

use crate::{not_differentiable, op_grad};

// `_fused_sdp_choice` returns an integer.
not_differentiable!(aten::_fused_sdp_choice);

/// Gradients of flash attention. The mask has none: attention with a mask that requires gradients is decomposed.
#[op_grad(aten::_scaled_dot_product_flash_attention_for_cpu, not_differentiable(attn_mask, logsumexp))]
fn _scaled_dot_product_flash_attention_for_cpu(
    grad: &Tensor,
    output: &Tensor,
    logsumexp: &Tensor,
    _: ...
) -> Result<(Tensor, Tensor, Tensor)> {
    aten::_scaled_dot_product_flash_attention_for_cpu_backward(
        grad, query, key, value, output, logsumexp, dropout_p, is_causal, attn_mask, scale,
    )
}
