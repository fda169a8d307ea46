//! PyTorch's fast paths of transformers for inference: a layer of an encoder, and the parts of its attention.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, MemoryFormat};

use super::default_scale;
use crate::prelude::*;
use crate::{accumulate_dtype, check_same_device, linear, softmax_int};

/// The softmax along a dimension, by default the last one, of the elements where `mask` is false. The others become zero.
///
/// `mask_type` is 0 for a mask of queries and keys with sizes `[L, L]`, 1 for a mask of padding with sizes `[B, L]`, and otherwise 2. A slice
/// without an element becomes NaN.
#[op_def("_masked_softmax(Tensor self, Tensor mask, int? dim=None, int? mask_type=None) -> Tensor", out = "out")]
pub fn _masked_softmax(_: ...) -> Result<Tensor> {
    let mask = expand_mask(this, mask, mask_type)?;
    softmax_int(&this.masked_fill(&mask, f64::NEG_INFINITY)?, dim.unwrap_or(-1), None)
}

/// The gradient of [`_masked_softmax`] for its input. `mask` has the sizes of the result `output`.
#[op_def(
    "_masked_softmax_backward(Tensor grad_output, Tensor output, Tensor mask, int? dim=None) -> Tensor",
    out = "out"
)]
pub fn _masked_softmax_backward(_: ...) -> Result<Tensor> {
    let mask = expand_mask(output, mask, Some(2))?;
    if grad_output.sizes() != output.sizes() {
        return Err(BadArgument::sizes("grad_output", grad_output.sizes(), output.sizes()).like("output").into());
    }
    let dtype = accumulate_dtype(output.dtype());
    let output = output.to(dtype)?.masked_fill(&mask, 0)?;
    let products = (&output * grad_output.to(dtype)?)?.masked_fill(&mask, 0)?;
    let sum = products.sum_keepdim(dim.unwrap_or(-1))?;
    (products - (output * sum)?)?.masked_fill(&mask, 0)?.to(grad_output.dtype())
}

/// Expands the mask of a softmax to the sizes of `scores`.
fn expand_mask(scores: &Tensor, mask: &Tensor, mask_type: Option<i64>) -> Result<Tensor> {
    check_same_device([("self", scores), ("mask", mask)])?;
    if !scores.dtype().is_floating() {
        return Err(BadArgument::dtype("self", scores.dtype(), DTypes::Floating).into());
    }
    if mask.dtype() != DType::Bool {
        return Err(BadArgument::dtype("mask", mask.dtype(), DType::Bool).into());
    }
    let expected_sizes = match (mask_type, scores.sizes()) {
        (Some(0), &[_, _, rows, columns]) => vec![rows, columns],
        (Some(1), &[items, _, _, columns]) => vec![items, columns],
        (Some(0 | 1), sizes) => return Err(BadArgument::rank("self", sizes.len(), 4).into()),
        (Some(2) | None, sizes) => sizes.to_vec(),
        (Some(other), _) => return Err(BadArgument::number("mask_type", other, 0..=2).into()),
    };
    if mask.sizes() != expected_sizes {
        let reason = if mask_type.is_none() { "there is no `mask_type`" } else { "`mask_type` needs them" };
        return Err(BadArgument::sizes("mask", mask.sizes(), &expected_sizes[..]).because(reason).into());
    }
    let mask = if mask_type == Some(1) { mask.unsqueeze(1)?.unsqueeze(1)? } else { mask.clone() };
    mask.expand(scores.sizes())
}

/// Adds the bias to projected queries, keys and values, multiplies the queries by the scale of attention, and moves the heads before the rows.
#[op_def(
    "_transform_bias_rescale_qkv(Tensor qkv, Tensor qkv_bias, int num_heads) -> (Tensor, Tensor, Tensor)",
    out = "out"
)]
pub fn _transform_bias_rescale_qkv(_: ...) -> Result<(Tensor, Tensor, Tensor)> {
    let &[items, rows, width] = qkv.sizes() else {
        return Err(BadArgument::rank("qkv", qkv.sizes().len(), 3).into());
    };
    let columns = check_heads("num_heads", num_heads, width / 3)?;
    if width % 3 != 0 {
        return Err(BadArgument::size("qkv", qkv.sizes(), 2, dispatch_runtime::Expected::MultipleOf(3)).into());
    }
    check_parameter("qkv_bias", qkv_bias, &[width], ("qkv", qkv))?;
    let dtype = accumulate_dtype(qkv.dtype());
    let all = (qkv.to(dtype)? + qkv_bias.to(dtype)?)?.reshape([items, rows, 3, num_heads, columns])?;
    let part = |number: i64| crate::transpose_int(&crate::select_int(&all, 2, number)?, 1, 2);
    let finish = |part: &Tensor| crate::clone(&part.to(qkv.dtype())?, Some(MemoryFormat::Contiguous));
    let queries = (part(0)? * default_scale(&[columns]))?;
    Ok((finish(&queries)?, finish(&part(1)?)?, finish(&part(2)?)?))
}

/// Multi-head attention, with its projections. Also returns the weights of attention, which are empty unless `need_weights` requests them.
#[op_def(
    "_native_multi_head_attention(Tensor query, Tensor key, Tensor value, int embed_dim, int num_head, Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, Tensor? mask=None, bool need_weights=True, bool average_attn_weights=True, int? mask_type=None) -> (Tensor, Tensor)",
    out = "out"
)]
pub fn _native_multi_head_attention(_: ...) -> Result<(Tensor, Tensor)> {
    let &[items, rows, width] = query.sizes() else {
        return Err(BadArgument::rank("query", query.sizes().len(), 3).into());
    };
    if width != embed_dim {
        return Err(BadArgument::number("embed_dim", embed_dim, width).because("`query` has this last size").into());
    }
    check_heads("num_head", num_head, embed_dim)?;
    let tripled = embed_dim.saturating_mul(3);
    let expected: [(&str, &Tensor, &[i64]); 6] = [
        ("key", key, query.sizes()),
        ("value", value, query.sizes()),
        ("qkv_weight", qkv_weight, &[tripled, embed_dim]),
        ("qkv_bias", qkv_bias, &[tripled]),
        ("proj_weight", proj_weight, &[embed_dim, embed_dim]),
        ("proj_bias", proj_bias, &[embed_dim]),
    ];
    for (name, tensor, sizes) in expected {
        check_parameter(name, tensor, sizes, ("query", query))?;
    }
    let weights = crate::chunk(qkv_weight, 3, 0)?;
    let projected: Vec<Tensor> = [query, key, value]
        .iter()
        .zip(&weights)
        .map(|(input, weight)| linear(input, weight, None))
        .collect::<Result<_>>()?;
    let (query, key, value) = _transform_bias_rescale_qkv(&crate::cat(&projected, -1)?, qkv_bias, num_head)?;
    let scores = crate::matmul(&query, &crate::transpose_int(&key, -2, -1)?)?;
    let weights = match mask {
        Some(mask) => _masked_softmax(&scores, mask, Some(3), mask_type)?,
        None => softmax_int(&scores, -1, None)?,
    };
    let heads = crate::transpose_int(&crate::matmul(&weights, &value)?, 1, 2)?.reshape([items, rows, embed_dim])?;
    let weights = match (need_weights, average_attn_weights) {
        (false, _) => Tensor::empty(0, &weights)?,
        (true, true) => weights.mean_dims(1)?,
        (true, false) => weights,
    };
    Ok((linear(&heads, proj_weight, Some(proj_bias))?, weights))
}

/// A layer of a transformer's encoder: multi-head attention and two linear layers, each with a residual connection and a layer norm.
#[op_def(
    "_transformer_encoder_layer_fwd(Tensor src, int embed_dim, int num_heads, Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, bool use_gelu, bool norm_first, float eps, Tensor norm_weight_1, Tensor norm_bias_1, Tensor norm_weight_2, Tensor norm_bias_2, Tensor ffn_weight_1, Tensor ffn_bias_1, Tensor ffn_weight_2, Tensor ffn_bias_2, Tensor? mask=None, int? mask_type=None) -> Tensor",
    out = "out"
)]
pub fn _transformer_encoder_layer_fwd(_: ...) -> Result<Tensor> {
    let norm = |input: &Tensor, weight: &Tensor, bias: &Tensor| {
        crate::layer_norm(input, &[embed_dim], Some(weight), Some(bias), eps, true)
    };
    let attend = |input: &Tensor| -> Result<Tensor> {
        let parameters = (qkv_weight, qkv_bias, proj_weight, proj_bias);
        let (attended, _) = _native_multi_head_attention(
            input,
            input,
            input,
            embed_dim,
            num_heads,
            parameters.0,
            parameters.1,
            parameters.2,
            parameters.3,
            mask,
            false,
            true,
            mask_type,
        )?;
        Ok(attended)
    };
    let feed_forward = |input: &Tensor| {
        let hidden = linear(input, ffn_weight_1, Some(ffn_bias_1))?;
        let hidden = if use_gelu { crate::gelu(&hidden, "none")? } else { hidden.relu()? };
        linear(&hidden, ffn_weight_2, Some(ffn_bias_2))
    };
    if norm_first {
        let attended = (src + attend(&norm(src, norm_weight_1, norm_bias_1)?)?)?;
        return &attended + feed_forward(&norm(&attended, norm_weight_2, norm_bias_2)?)?;
    }
    let attended = norm(&(src + attend(src)?)?, norm_weight_1, norm_bias_1)?;
    norm(&(&attended + feed_forward(&attended)?)?, norm_weight_2, norm_bias_2)
}

/// Checks the number of heads of attention. Returns the columns of a head.
fn check_heads(name: &'static str, heads: i64, width: i64) -> Result<i64, BadArgument> {
    if heads < 1 || width % heads != 0 {
        return Err(BadArgument::value(name, heads, format!("a divisor of {width}")));
    }
    Ok(width / heads)
}

fn check_parameter(
    name: &'static str,
    tensor: &Tensor,
    sizes: &[i64],
    (like_name, like): (&'static str, &Tensor),
) -> Result<(), BadArgument> {
    check_same_device([(like_name, like), (name, tensor)])?;
    if !like.dtype().is_floating() {
        return Err(BadArgument::dtype(like_name, like.dtype(), DTypes::Floating));
    }
    if tensor.sizes() != sizes {
        return Err(BadArgument::sizes(name, tensor.sizes(), sizes));
    }
    if tensor.dtype() != like.dtype() {
        return Err(BadArgument::dtype(name, tensor.dtype(), like.dtype()).like(like_name));
    }
    Ok(())
}
