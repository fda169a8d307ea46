//! Multi-head attention, with its input and output projections.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Expected};

use crate::prelude::*;
use crate::{bmm, cat, constant_pad_nd, linear, scaled_dot_product_attention};

/// The weights that project query, key and value to the heads.
#[derive(Clone, Copy, Debug)]
pub enum InProjection<'a> {
    /// One weight with the rows of all three projections: query, key, value.
    Packed(&'a Tensor),
    /// One weight for each projection. Keys and values may then have other sizes.
    Separate {
        /// The weight of the query.
        query: &'a Tensor,
        /// The weight of the key.
        key: &'a Tensor,
        /// The weight of the value.
        value: &'a Tensor,
    },
}

/// The parameters and options of a multi-head attention layer.
#[derive(Clone, Copy, Debug)]
pub struct MultiHeadAttention<'a> {
    /// The number of heads.
    pub heads: i64,
    /// The weights of the input projections.
    pub in_projection: InProjection<'a>,
    /// The biases of the input projections of query, key and value, concatenated.
    pub in_bias: Option<&'a Tensor>,
    /// An additional key and an additional value, appended for every item of the batch.
    pub extra_key_value: Option<[&'a Tensor; 2]>,
    /// Whether to append a key and a value of zeros.
    pub add_zero_attn: bool,
    /// The probability of dropping an attention weight; zero outside of training.
    pub dropout: f64,
    /// The weight of the output projection.
    pub out_weight: &'a Tensor,
    /// The bias of the output projection.
    pub out_bias: Option<&'a Tensor>,
}

/// The attention weights to return.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum ReturnedWeights {
    /// None, which is the fastest.
    #[default]
    None,
    /// The averages over the heads.
    Averaged,
    /// The weights of every head.
    PerHead,
}

/// The masks of a multi-head attention, and the attention weights to return.
#[derive(Clone, Copy, Default, Debug)]
pub struct AttentionOptions<'a> {
    /// The mask of the keys: true for keys that all queries ignore, or numbers to add to the products with each key.
    pub key_padding_mask: Option<&'a Tensor>,
    /// The mask of the pairs of query and key: true for pairs to ignore, or numbers to add to their products. One mask for all, or one for
    /// each item and head.
    pub attn_mask: Option<&'a Tensor>,
    /// Whether each query ignores the keys of later positions, in addition to what the masks say.
    pub is_causal: bool,
    /// The attention weights to return.
    pub weights: ReturnedWeights,
}

/// Computes multi-head attention: for every query, the weighted average of the values, by several heads.
///
/// The inputs have sizes `[length, items, features]`, or no dimension of items. So does the result. The weights have the sizes
/// `[items, queries, keys]`. [`ReturnedWeights::PerHead`] adds a dimension of heads after the items.
///
/// ```
/// # use kernels_cpu as _;
/// # use aten::prelude::*;
/// # use dispatch_runtime::prelude::*;
/// use aten::functional::{InProjection, MultiHeadAttention, AttentionOptions, ReturnedWeights, multi_head_attention_forward};
///
/// let (x, out) = (Tensor::ones([3, 1, 4], ())?, Tensor::eye(4, ())?);
/// let packed = aten::cat(&[out.clone(), out.clone(), out.clone()], 0)?;
/// let layer = MultiHeadAttention {
///     heads: 2,
///     in_projection: InProjection::Packed(&packed),
///     in_bias: None,
///     extra_key_value: None,
///     add_zero_attn: false,
///     dropout: 0.0,
///     out_weight: &out,
///     out_bias: None,
/// };
/// let options = AttentionOptions { weights: ReturnedWeights::Averaged, ..AttentionOptions::default() };
/// let (y, weights) = multi_head_attention_forward(&x, &x, &x, &layer, options)?;
/// assert_eq!((y.sizes(), weights.unwrap().sizes()), (&[3, 1, 4][..], &[1, 3, 3][..]));
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if sizes do not fit together, or if a mask is neither boolean nor floating.
pub fn multi_head_attention_forward(
    query: &Tensor,
    key: &Tensor,
    value: &Tensor,
    layer: &MultiHeadAttention<'_>,
    options: AttentionOptions<'_>,
) -> Result<(Tensor, Option<Tensor>)> {
    if query.sizes().len() == 2 {
        let padding = options.key_padding_mask.map(|mask| mask.unsqueeze(0)).transpose()?;
        let options = AttentionOptions { key_padding_mask: padding.as_ref(), ..options };
        let [query, key, value] = [query.unsqueeze(1)?, key.unsqueeze(1)?, value.unsqueeze(1)?];
        let (result, weights) = multi_head_attention_forward(&query, &key, &value, layer, options)?;
        return Ok((result.squeeze_dims(1)?, weights.map(|weights| weights.squeeze_dims(0)).transpose()?));
    }
    let (&[targets, items, features], &[sources, others, _]) = (query.sizes(), key.sizes()) else {
        let culprit = if query.sizes().len() == 3 { ("key", key) } else { ("query", query) };
        return Err(BadArgument::rank(culprit.0, culprit.1.sizes().len(), &[2, 3])
            .because("the dimension of items is optional")
            .into());
    };
    if others != items || value.sizes().get(..2) != key.sizes().get(..2) {
        let (name, odd) = if others == items { ("value", value) } else { ("key", key) };
        return Err(BadArgument::sizes(name, odd.sizes(), format!("{items} items, and as many values as keys")).into());
    }
    let heads = layer.heads;
    if heads < 1 || features % heads != 0 {
        return Err(BadArgument::number("heads", heads, Expected::DivisorOf(features.into()))
            .because("`query` has this number of features")
            .into());
    }
    let Some(head_batch) = items.checked_mul(heads) else {
        return Err(BadArgument::value("heads", heads, format!("small enough for {items} items")).into());
    };
    let [query, mut key, mut value] = project_inputs([query, key, value], layer)?;
    if let Some([extra_key, extra_value]) = layer.extra_key_value {
        let more =
            |line: &Tensor, one: &Tensor| cat(&[line.clone(), one.reshape([1, 1, -1])?.expand([1, items, -1])?], 0);
        (key, value) = (more(&key, extra_key)?, more(&value, extra_value)?);
    }
    let split_heads = |line: &Tensor| line.reshape([line.sizes()[0], head_batch, -1])?.transpose(0, 1);
    let (query, mut key, mut value) = (split_heads(&query)?, split_heads(&key)?, split_heads(&value)?);
    if layer.add_zero_attn {
        (key, value) =
            (constant_pad_nd(&key, &[0, 0, 0, 1], 0.into())?, constant_pad_nd(&value, &[0, 0, 0, 1], 0.into())?);
    }
    let added = key.sizes()[1] - sources;
    // The kernel has the causal mask. With others, or with keys that are appended, it is a mask as they are.
    let other_masks = options.attn_mask.is_some() || options.key_padding_mask.is_some();
    let masks_in_kernel = options.is_causal && !other_masks && added == 0 && options.weights == ReturnedWeights::None;
    let mask =
        if masks_in_kernel { None } else { combined_mask(options, [items, heads, targets, sources], added, &query)? };
    let by_head = |all: &Tensor| all.reshape([items, heads, all.sizes()[1], -1]);
    let merge_heads = |heads: &Tensor| -> Result<Tensor> {
        let flat = heads.transpose(0, 1)?.reshape([targets.saturating_mul(items), -1])?;
        linear(&flat, layer.out_weight, layer.out_bias)?.reshape([targets, items, -1])
    };
    if options.weights == ReturnedWeights::None {
        let mask = mask.as_ref().map(|mask| mask.expand([head_batch, targets, key.sizes()[1]])).transpose()?;
        let mask = mask.as_ref().map(by_head).transpose()?;
        let [query, key, value] = [by_head(&query)?, by_head(&key)?, by_head(&value)?];
        let attended = scaled_dot_product_attention(
            &query,
            &key,
            &value,
            mask.as_ref(),
            layer.dropout,
            masks_in_kernel,
            None,
            false,
        )?;
        return Ok((merge_heads(&attended.reshape([head_batch, targets, -1])?)?, None));
    }
    #[expect(clippy::cast_precision_loss, reason = "a square root is rounded")]
    let scale = (query.sizes()[2] as f64).sqrt().recip();
    let mut products = bmm(&(query * scale)?, &key.transpose(1, 2)?)?;
    if let Some(mask) = mask {
        products = (products + mask)?;
    }
    let weights = crate::dropout(&products.softmax(-1)?, layer.dropout, layer.dropout > 0.0)?;
    let result = merge_heads(&bmm(&weights, &value)?)?;
    let weights = by_head(&weights)?;
    Ok((result, Some(if options.weights == ReturnedWeights::Averaged { weights.mean_dims(1)? } else { weights })))
}

/// Projects query, key and value for the heads. A packed weight needs only one product if all three are the same tensor.
fn project_inputs(inputs: [&Tensor; 3], layer: &MultiHeadAttention<'_>) -> Result<[Tensor; 3]> {
    let features = inputs[0].sizes()[2];
    let parts = |packed: &Tensor| -> Result<[Tensor; 3]> {
        if packed.sizes().first().copied() != features.checked_mul(3) {
            return Err(BadArgument::size("in_projection", packed.sizes(), 0, features.saturating_mul(3)).into());
        }
        let part = |at: i64| packed.narrow(0, at * features, features);
        Ok([part(0)?, part(1)?, part(2)?])
    };
    let biases = layer.in_bias.map(parts).transpose()?;
    let bias = |at: usize| biases.as_ref().map(|biases| &biases[at]);
    let [query, key, value] = inputs;
    if let InProjection::Packed(weight) = layer.in_projection
        && query.same(key)
        && key.same(value)
    {
        parts(weight)?;
        let all = linear(query, weight, layer.in_bias)?;
        let part = |at: i64| all.narrow(-1, at * features, features);
        return Ok([part(0)?, part(1)?, part(2)?]);
    }
    let each = match layer.in_projection {
        InProjection::Packed(weight) => parts(weight)?,
        InProjection::Separate { query, key, value } => [query.clone(), key.clone(), value.clone()],
    };
    Ok([linear(query, &each[0], bias(0))?, linear(key, &each[1], bias(1))?, linear(value, &each[2], bias(2))?])
}

/// Returns the sum of both masks, to add to the products of queries and keys. The last `added` keys are not masked.
fn combined_mask(
    options: AttentionOptions<'_>,
    [items, heads, targets, sources]: [i64; 4],
    added: i64,
    query: &Tensor,
) -> Result<Option<Tensor>> {
    let dtype = query.dtype();
    let additive = |name, mask: &Tensor, fits: &[&[i64]]| -> Result<Tensor> {
        if !fits.contains(&mask.sizes()) {
            return Err(BadArgument::sizes(name, mask.sizes(), format!("{fits:?}")).into());
        }
        let mask = match mask.dtype() {
            DType::Bool => {
                crate::zeros_like(mask, Some(dtype), None, None, None, None)?.masked_fill(mask, f64::NEG_INFINITY)?
            }
            floating if floating.is_floating() => mask.clone(),
            other => return Err(BadArgument::dtype(name, other, "bool or a floating-point dtype").into()),
        };
        constant_pad_nd(&mask, &[0, added], 0.into())
    };
    let pairs = options.attn_mask.map(|mask| {
        let mask = additive("attn_mask", mask, &[&[targets, sources], &[items * heads, targets, sources]])?;
        if mask.sizes().len() == 2 { mask.unsqueeze(0) } else { Ok(mask) }
    });
    let padding = options.key_padding_mask.map(|mask| {
        let mask = additive("key_padding_mask", mask, &[&[items, sources]])?;
        let all = sources + added;
        mask.reshape([items, 1, 1, all])?.expand([-1, heads, -1, -1])?.reshape([items * heads, 1, all])
    });
    let causal = options.is_causal.then(|| {
        let later = Tensor::ones([targets, sources], (DType::Bool, query.device()))?.triu(1)?;
        additive("is_causal", &later, &[&[targets, sources]])?.unsqueeze(0)
    });
    let masks = [pairs.transpose()?, padding.transpose()?, causal.transpose()?];
    masks.into_iter().flatten().map(Ok).reduce(|sum, mask| sum? + mask?).transpose()
}
