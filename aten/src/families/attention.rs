//! Scaled dot-product attention: `softmax(scale * query key^T + mask) value`.
//!
//! A blocked kernel (flash attention) computes it tile by tile, without the matrix of all products. If a backend has such a kernel, its
//! `_fused_sdp_choice` selects it. Otherwise attention is composed of other operators.

mod checks;
mod fast_paths;
mod overrideable;

use checks::check_attention_sizes;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Dims, Expected, Geometry, Problem, Spec, wrap_dim};

use crate::{accumulate_dtype, check_same_device, matmul, mul_scalar, to_dtype, transpose_int};

/// The items that the crate re-exports at its root.
pub(crate) mod operators {
    pub use super::fast_paths::*;
    pub use super::overrideable::*;
    pub use super::*;
}

/// Scaled dot-product attention by a blocked kernel, with the logarithms of the softmax denominators for the backward pass.
#[op_def(
    "_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, float dropout_p=0., bool is_causal=False, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor output, Tensor logsumexp)",
    plan
)]
pub fn _scaled_dot_product_flash_attention_for_cpu(_: ...) -> Result<(Tensor, Tensor)>;

/// The plan of scaled dot-product attention by a blocked kernel.
pub struct AttentionPlan {
    /// The factor by which the products of queries and keys are multiplied.
    pub scale: f64,
}

impl AttentionPlan {
    /// The result of `_fused_sdp_choice` if attention is composed of other operators.
    pub const CHOICE_MATH: i64 = 0;
    /// The result of `_fused_sdp_choice` if a backend's blocked kernel runs.
    pub const CHOICE_FLASH: i64 = 1;

    /// Whether blocked kernels support these arguments.
    #[must_use]
    pub fn flash_kernel_supports(
        query: &Tensor,
        key: &Tensor,
        value: &Tensor,
        attn_mask: Option<&Tensor>,
        dropout_p: f64,
        enable_gqa: bool,
    ) -> bool {
        // A boolean mask is converted to an additive mask of the same sizes later, so its dtype is not checked.
        let mask = attn_mask.filter(|mask| mask.dtype() != DType::Bool);
        output_and_logsumexp_specs(query, key, value, dropout_p, mask).is_ok()
            && attn_mask.is_none_or(|mask| check_attention_mask(mask, query, key).is_ok() && !mask.requires_grad())
            && (enable_gqa || query.sizes()[1] == key.sizes()[1])
    }
}

#[op_plan(_scaled_dot_product_flash_attention_for_cpu)]
fn flash_attention_plan(_: ...) -> Result<Plan<AttentionPlan, 2>, BadArgument> {
    let specs = output_and_logsumexp_specs(query, key, value, dropout_p, attn_mask)?;
    Ok(Plan::new(AttentionPlan { scale: scale.unwrap_or_else(|| default_scale(query.sizes())) }, specs))
}

/// The gradients of [`_scaled_dot_product_flash_attention_for_cpu`] for query, key and value.
#[op_def(
    "_scaled_dot_product_flash_attention_for_cpu_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor out, Tensor logsumexp, float dropout_p, bool is_causal, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor grad_query, Tensor grad_key, Tensor grad_value)",
    plan
)]
pub fn _scaled_dot_product_flash_attention_for_cpu_backward(_: ...) -> Result<(Tensor, Tensor, Tensor)>;

#[op_plan(_scaled_dot_product_flash_attention_for_cpu_backward)]
fn flash_attention_backward_plan(_: ...) -> Result<Plan<AttentionPlan, 3>, BadArgument> {
    let [output, sums] = output_and_logsumexp_specs(query, key, value, dropout_p, attn_mask)?;
    check_same_device([("query", query), ("grad_out", grad_out), ("out", out), ("logsumexp", logsumexp)])?;
    for (name, tensor, spec) in
        [("grad_out", grad_out, &output), ("out", out, &output), ("logsumexp", logsumexp, &sums)]
    {
        if tensor.sizes() != spec.geometry.sizes() {
            return Err(BadArgument::sizes(name, tensor.sizes(), spec.geometry.sizes()));
        }
        if tensor.dtype() != spec.dtype {
            return Err(BadArgument::dtype(name, tensor.dtype(), spec.dtype));
        }
    }
    // The heads of a row are adjacent in memory, as in the result of a projection.
    let adjacent_heads = |of: &Tensor| dense_spec_in_order(of.dtype(), of.sizes(), [3, 1, 2, 0]);
    let attention = AttentionPlan { scale: scale.unwrap_or_else(|| default_scale(query.sizes())) };
    Ok(Plan::new(attention, [adjacent_heads(query), adjacent_heads(key), adjacent_heads(value)]))
}

/// Checks the arguments of blocked attention. Returns the specs of the result and of the logarithms of the softmax denominators.
fn output_and_logsumexp_specs(
    query: &Tensor,
    key: &Tensor,
    value: &Tensor,
    dropout_p: f64,
    attn_mask: Option<&Tensor>,
) -> Result<[Spec; 2], BadArgument> {
    check_same_device([("query", query), ("key", key), ("value", value), ("attn_mask", attn_mask.unwrap_or(query))])?;
    for (name, tensor) in [("query", query), ("key", key), ("value", value)] {
        if tensor.sizes().len() != 4 {
            return Err(BadArgument::rank(name, tensor.sizes().len(), 4));
        }
        if !tensor.dtype().is_floating() {
            return Err(BadArgument::dtype(name, tensor.dtype(), DTypes::Floating));
        }
        if tensor.dtype() != query.dtype() {
            return Err(BadArgument::dtype(name, tensor.dtype(), query.dtype()).like("query"));
        }
    }
    if dropout_p != 0.0 {
        return Err(BadArgument::number("dropout_p", dropout_p, 0));
    }
    let &[items, heads, rows, width] = query.sizes() else { return Err(BadArgument::rank("query", 0, 4)) };
    let groups = key.sizes()[1];
    if key.sizes()[0] != items || key.sizes()[3] != width || !(groups == heads || groups > 0 && heads % groups == 0) {
        let expected =
            format!("[{items}, a divisor of {heads}, any size, {width}], as `query` has sizes {:?}", query.sizes());
        return Err(BadArgument::sizes("key", key.sizes(), expected));
    }
    if value.sizes() != key.sizes() {
        return Err(BadArgument::sizes("value", value.sizes(), key.sizes()).like("key"));
    }
    if let Some(mask) = attn_mask {
        if mask.dtype() != query.dtype() && mask.dtype() != accumulate_dtype(query.dtype()) {
            return Err(BadArgument::dtype("attn_mask", mask.dtype(), query.dtype()).like("query"));
        }
        check_attention_mask(mask, query, key)?;
    }
    Ok([
        spec_in_memory_order_of(query),
        dense_spec_in_order(accumulate_dtype(query.dtype()), &[items, heads, rows], [1, 2, 0]),
    ])
}

/// Refuses a mask that does not broadcast to the matrix of products of queries and keys.
fn check_attention_mask(mask: &Tensor, query: &Tensor, key: &Tensor) -> Result<(), BadArgument> {
    let (&[items, heads, rows, _], &[_, _, keys, _]) = (query.sizes(), key.sizes()) else {
        return Err(BadArgument::rank("query", query.sizes().len(), 4));
    };
    let products = [items, heads, rows, keys];
    let own = mask.sizes();
    if own.len() != 2 && own.len() != 4 {
        return Err(BadArgument::rank("attn_mask", own.len(), &[2, 4]));
    }
    let fits = own.iter().rev().zip(products.iter().rev()).all(|(&own, &size)| own == size || own == 1);
    if fits {
        Ok(())
    } else {
        Err(BadArgument::new("attn_mask", Problem::Broadcast { sizes: own.to_vec(), with: products.to_vec() }))
    }
}

/// Returns the spec of a new tensor with the sizes and the memory order of dimensions of `tensor`.
fn spec_in_memory_order_of(tensor: &Tensor) -> Spec {
    let geometry = tensor.geometry();
    let mut order: Dims = (0_i64..).take(geometry.rank()).collect();
    if geometry.is_dense() {
        order.reverse();
        order.sort_by_key(|&dim| usize::try_from(dim).map_or(0, |dim| geometry.strides()[dim]));
        let order = order.iter().filter_map(|&dim| usize::try_from(dim).ok());
        dense_spec_in_order(tensor.dtype(), geometry.sizes(), order)
    } else {
        Spec::like(tensor, tensor.dtype())
    }
}

/// Returns a dense spec whose dimensions are in this memory order, the innermost first.
fn dense_spec_in_order(dtype: DType, sizes: &[i64], inner_to_outer: impl IntoIterator<Item = usize>) -> Spec {
    let geometry = Geometry::dense(sizes, inner_to_outer);
    Spec { dtype, geometry: geometry.unwrap_or_else(|| Geometry::contiguous(sizes)) }
}

/// Selects the implementation of attention: 0 for a composition of other operators, 1 for a blocked kernel.
#[op_def(
    "_fused_sdp_choice(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0., bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> int",
    body = CompositeExplicitAutograd
)]
pub fn _fused_sdp_choice(_: ...) -> Result<i64> {
    // Shapes on Meta are those of the CPU's kernel, as in PyTorch: its results have the memory order of the query.
    let is_flash = query.device() == Device::META
        && AttentionPlan::flash_kernel_supports(query, key, value, attn_mask, dropout_p, enable_gqa);
    Ok(if is_flash { AttentionPlan::CHOICE_FLASH } else { AttentionPlan::CHOICE_MATH })
}

/// Scaled dot-product attention: for each query, the average of the values, weighted by the softmax of the query's products with the keys.
#[op_def(
    "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0., bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
    check = check_attention_sizes(query, key, value, attn_mask, enable_gqa)
)]
pub fn scaled_dot_product_attention(_: ...) -> Result<Tensor> {
    check_ranks_and_dtypes(query, key, value, attn_mask, is_causal)?;
    let choice = _fused_sdp_choice(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)?;
    let mask = attn_mask.map(|mask| additive_mask(mask, query.dtype())).transpose()?;
    let mask = mask.as_ref();
    Ok(if choice == AttentionPlan::CHOICE_FLASH {
        _scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout_p, is_causal, mask, scale)?.0
    } else {
        _scaled_dot_product_attention_math(query, key, value, mask, dropout_p, is_causal, None, scale, enable_gqa)?.0
    })
}

fn check_ranks_and_dtypes(
    query: &Tensor,
    key: &Tensor,
    value: &Tensor,
    attn_mask: Option<&Tensor>,
    is_causal: bool,
) -> Result<(), BadArgument> {
    for (name, tensor) in [("query", query), ("key", key), ("value", value)] {
        if tensor.sizes().len() < 2 {
            return Err(BadArgument::rank(name, tensor.sizes().len(), 2..));
        }
        if tensor.dtype() != query.dtype() {
            return Err(BadArgument::dtype(name, tensor.dtype(), query.dtype()).like("query"));
        }
    }
    let Some(mask) = attn_mask else { return Ok(()) };
    if is_causal {
        return Err(BadArgument::number("is_causal", true, false).because("there is an `attn_mask`"));
    }
    if ![DType::Bool, DType::F32, query.dtype()].contains(&mask.dtype()) {
        let expected = format!("bool, float32 or {}, as `query` is", query.dtype());
        return Err(BadArgument::dtype("attn_mask", mask.dtype(), expected));
    }
    Ok(())
}

/// Converts a boolean mask to an additive mask: 0 if true, minus infinity if false. Returns other masks unchanged.
fn additive_mask(mask: &Tensor, dtype: DType) -> Result<Tensor> {
    if mask.dtype() != DType::Bool {
        return Ok(mask.clone());
    }
    let zeros = crate::new_zeros(mask, mask.sizes(), Some(dtype), None, None, None)?;
    crate::masked_fill_scalar(&zeros, &crate::logical_not(mask)?, Scalar::Float(f64::NEG_INFINITY))
}

/// Scaled dot-product attention, composed of other operators. Also returns the softmax weights.
#[op_def(
    "_scaled_dot_product_attention_math(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0., bool is_causal=False, Tensor? dropout_mask=None, *, float? scale=None, bool enable_gqa=False) -> (Tensor, Tensor)",
    check = check_attention_sizes(query, key, value, attn_mask, enable_gqa)
)]
pub fn _scaled_dot_product_attention_math(_: ...) -> Result<(Tensor, Tensor)> {
    check_ranks_and_dtypes(query, key, value, attn_mask, is_causal)?;
    let (original_dtype, dtype) = (query.dtype(), accumulate_dtype(query.dtype()));
    let to_compute_dtype = |tensor: &Tensor| to_dtype(tensor, dtype, false, false, None);
    let (query, mut key, mut value) = (to_compute_dtype(query)?, to_compute_dtype(key)?, to_compute_dtype(value)?);
    if enable_gqa {
        key = repeat_heads("key", &key, &query)?;
        value = repeat_heads("value", &value, &query)?;
    }
    // Both operands are multiplied by the square root of the scale, so that neither becomes large.
    let scale = scale.unwrap_or_else(|| default_scale(query.sizes()));
    let root = scale.abs().sqrt();
    let left = mul_scalar(&query, Scalar::Float(root.copysign(scale)))?;
    let mut products = matmul(&left, &transpose_int(&mul_scalar(&key, Scalar::Float(root))?, -2, -1)?)?;
    let mask = match attn_mask {
        Some(mask) => Some(additive_mask(mask, dtype)?),
        None if is_causal => Some(causal_mask(&products)?),
        None => None,
    };
    if let Some(mask) = mask {
        products = crate::add(&products, &mask, Scalar::Int(1))?;
    }
    let mut weights = crate::_safe_softmax(&products, -1, None)?;
    if dropout_p != 0.0 {
        if let Some(kept) = dropout_mask {
            weights = crate::masked_fill_scalar(&weights, &crate::logical_not(kept)?, Scalar::Int(0))?;
            value = mul_scalar(&value, Scalar::Float(1.0 / (1.0 - dropout_p)))?;
        } else {
            weights = crate::dropout(&weights, dropout_p, true)?;
        }
    }
    let to_original_dtype = |tensor: &Tensor| to_dtype(tensor, original_dtype, false, false, None);
    Ok((to_original_dtype(&matmul(&weights, &value)?)?, to_original_dtype(&weights)?))
}

/// Returns the default scale: `1 / sqrt(width)` of the query's last dimension.
#[expect(clippy::cast_precision_loss, reason = "a width is below 2^53")]
fn default_scale(query: &[i64]) -> f64 {
    query.last().map_or(1.0, |&width| 1.0 / (width as f64).sqrt())
}

/// Returns the additive causal mask: minus infinity if the key comes after the query, else 0.
fn causal_mask(products: &Tensor) -> Result<Tensor> {
    let sizes = products.sizes();
    let rows = wrap_dim("query", -2, sizes.len())?;
    let negative_infinity = Scalar::Float(f64::NEG_INFINITY);
    crate::triu(&crate::new_full(products, &sizes[rows..], negative_infinity, None, None, None, None)?, 1)
}

/// Repeats each head of keys or values, so that there are as many heads as in the query.
fn repeat_heads(name: &'static str, tensor: &Tensor, query: &Tensor) -> Result<Tensor> {
    let (&[.., own, _, _], &[.., heads, _, _]) = (tensor.sizes(), query.sizes()) else {
        return Err(BadArgument::rank(name, tensor.sizes().len(), 3..).into());
    };
    if own < 1 || heads % own != 0 {
        return Err(BadArgument::size(name, tensor.sizes(), tensor.sizes().len() - 3, Expected::DivisorOf(heads))
            .because("`query` has this number of heads")
            .into());
    }
    if own == heads {
        return Ok(tensor.clone());
    }
    crate::repeat_interleave_self_int(tensor, heads / own, Some(-3), None)
}
