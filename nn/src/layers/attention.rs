//! Multi-head attention.

use aten::functional::{AttentionOptions, InProjection, MultiHeadAttention, ReturnedWeights};
use aten::prelude::*;
use dispatch_runtime::{BadArgument, Expected, IntoInt, Result, Tensor};

use super::checks::{check_positive, check_probability};
use super::linear::Linear;
use crate::init;
use crate::param::{Param, Training};
use crate::summary::observe;

/// Multi-head attention: for each query, the average of the values, weighted by the products of the query with the keys.
///
/// The inputs have sizes `[length, batch, features]`, or `[batch, length, features]` with the option `batch_first`, or `[length, features]`.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::{AttentionMasks, MultiheadAttention, MultiheadAttentionOptions};
/// use dispatch_runtime::Tensor;
///
/// let options = MultiheadAttentionOptions { batch_first: true, ..MultiheadAttentionOptions::default() };
/// let attention = MultiheadAttention::with(8, 2, options)?;
/// let x = Tensor::randn((3, 5, 8), ())?;
/// assert_eq!(attention.forward(&x, &x, &x)?.sizes(), [3, 5, 8]);
/// let causal = AttentionMasks { is_causal: true, ..AttentionMasks::default() };
/// assert_eq!(attention.forward_masked(&x, &x, &x, causal)?.sizes(), [3, 5, 8]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug, crate::Module)]
pub struct MultiheadAttention {
    /// The projections of queries, keys and values, of sizes `[3 embed_dim, embed_dim]`, if keys and values have the size of queries.
    pub in_proj_weight: Option<Param>,
    /// The projection of queries, if the sizes differ.
    pub q_proj_weight: Option<Param>,
    /// The projection of keys, if the sizes differ.
    pub k_proj_weight: Option<Param>,
    /// The projection of values, if the sizes differ.
    pub v_proj_weight: Option<Param>,
    /// The biases of the projections of queries, keys and values.
    pub in_proj_bias: Option<Param>,
    /// A key that is appended, of sizes `[1, 1, embed_dim]`.
    pub bias_k: Option<Param>,
    /// A value that is appended, of sizes `[1, 1, embed_dim]`.
    pub bias_v: Option<Param>,
    /// The projection of the result.
    pub out_proj: Linear,
    embed_dim: i64,
    num_heads: i64,
    dropout: f64,
    add_zero_attn: bool,
    batch_first: bool,
    training: Training,
}

/// The options of [`MultiheadAttention`].
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{MultiheadAttention, MultiheadAttentionOptions};
/// let options = MultiheadAttentionOptions { kdim: Some(3), vdim: Some(5), ..MultiheadAttentionOptions::default() };
/// assert!(MultiheadAttention::with(8, 2, options)?.in_proj_weight.is_none());
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "these are PyTorch's options")]
pub struct MultiheadAttentionOptions {
    /// The probability of leaving out an attention weight while training.
    pub dropout: f64,
    /// Whether projections have biases.
    pub bias: bool,
    /// Whether a trained key and a trained value are appended.
    pub add_bias_kv: bool,
    /// Whether a key and a value of zeros are appended.
    pub add_zero_attn: bool,
    /// The number of features of keys, if it differs from `embed_dim`.
    pub kdim: Option<i64>,
    /// The number of features of values, if it differs from `embed_dim`.
    pub vdim: Option<i64>,
    /// Whether inputs have sizes `[batch, length, features]`.
    pub batch_first: bool,
}

impl Default for MultiheadAttentionOptions {
    fn default() -> Self {
        Self {
            dropout: 0.0,
            bias: true,
            add_bias_kv: false,
            add_zero_attn: false,
            kdim: None,
            vdim: None,
            batch_first: false,
        }
    }
}

/// The masks of an attention. Several masks are combined.
///
/// A boolean mask is true for keys to ignore. A mask of numbers is added to the products with the keys.
///
/// ```
/// use dispatch_nn::AttentionMasks;
/// use dispatch_runtime::Tensor;
/// let padding = Tensor::from([[false, false, true]]);
/// let masks = AttentionMasks { key_padding_mask: Some(&padding), ..AttentionMasks::default() };
/// assert!(masks.attn_mask.is_none());
/// ```
#[derive(Clone, Copy, Default, Debug)]
pub struct AttentionMasks<'a> {
    /// The mask of pairs of query and key, of sizes `[queries, keys]` or `[batch * heads, queries, keys]`.
    pub attn_mask: Option<&'a Tensor>,
    /// The mask of keys, of sizes `[batch, keys]`.
    pub key_padding_mask: Option<&'a Tensor>,
    /// Whether each query ignores the keys of later positions. No `attn_mask` is needed for it.
    pub is_causal: bool,
}

impl MultiheadAttention {
    /// Creates a layer. The input projections have the Xavier uniform distribution, biases are zero, and the output projection is that of
    /// [`Linear`].
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if `embed_dim` is not positive, or if `num_heads` does not divide it.
    pub fn new(embed_dim: impl IntoInt, num_heads: impl IntoInt) -> Result<Self> {
        Self::with(embed_dim, num_heads, MultiheadAttentionOptions::default())
    }

    /// Creates a layer with options.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if `embed_dim` is not positive, if `num_heads` does not divide it, or if `dropout` is no probability.
    pub fn with(embed_dim: impl IntoInt, num_heads: impl IntoInt, options: MultiheadAttentionOptions) -> Result<Self> {
        let (embed_dim, num_heads) = (embed_dim.into_int(), num_heads.into_int());
        let MultiheadAttentionOptions { dropout, bias, add_bias_kv, add_zero_attn, kdim, vdim, batch_first } = options;
        check_positive("embed_dim", embed_dim)?;
        if num_heads < 1 || embed_dim % num_heads != 0 {
            return Err(BadArgument::number("num_heads", num_heads, Expected::DivisorOf(embed_dim.into()))
                .because("each head has as many features")
                .into());
        }
        check_probability("dropout", dropout)?;
        let (kdim, vdim) = (kdim.unwrap_or(embed_dim), vdim.unwrap_or(embed_dim));
        let rows = embed_dim.saturating_mul(3);
        let is_packed = kdim == embed_dim && vdim == embed_dim;
        let matrix = |rows, columns| initial_param([rows, columns], init::xavier_uniform_);
        let separate = |features| if is_packed { Ok(None) } else { matrix(embed_dim, features).map(Some) };
        let zeros = |size| Param::new(Tensor::zeros(size, ())?);
        let extra = || add_bias_kv.then(|| initial_param([1, 1, embed_dim], init::xavier_normal_)).transpose();
        let out_proj = if bias {
            Linear { bias: Some(zeros(embed_dim)?), ..Linear::without_bias(embed_dim, embed_dim)? }
        } else {
            Linear::without_bias(embed_dim, embed_dim)?
        };
        Ok(Self {
            in_proj_weight: is_packed.then(|| matrix(rows, embed_dim)).transpose()?,
            q_proj_weight: separate(embed_dim)?,
            k_proj_weight: separate(kdim)?,
            v_proj_weight: separate(vdim)?,
            in_proj_bias: bias.then(|| zeros(rows)).transpose()?,
            bias_k: extra()?,
            bias_v: extra()?,
            out_proj,
            embed_dim,
            num_heads,
            dropout,
            add_zero_attn,
            batch_first,
            training: Training::ON,
        })
    }

    /// Computes the attention of all queries to all keys.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if sizes do not fit.
    pub fn forward(&self, query: &Tensor, key: &Tensor, value: &Tensor) -> Result<Tensor> {
        self.forward_masked(query, key, value, AttentionMasks::default())
    }

    /// Computes the attention with masks.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if sizes do not fit, or if a mask is neither boolean nor floating.
    pub fn forward_masked(
        &self,
        query: &Tensor,
        key: &Tensor,
        value: &Tensor,
        masks: AttentionMasks<'_>,
    ) -> Result<Tensor> {
        observe(self, self.attend([query, key, value], masks, ReturnedWeights::None).map(|results| results.0))
    }

    /// Computes the attention with masks, and also returns the attention weights: their averages over the heads, of sizes
    /// `[batch, queries, keys]`, or those of each head, of sizes `[batch, heads, queries, keys]`.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if sizes do not fit, or if a mask is neither boolean nor floating.
    pub fn forward_with_weights(
        &self,
        query: &Tensor,
        key: &Tensor,
        value: &Tensor,
        masks: AttentionMasks<'_>,
        average_attn_weights: bool,
    ) -> Result<(Tensor, Tensor)> {
        let weights = if average_attn_weights { ReturnedWeights::Averaged } else { ReturnedWeights::PerHead };
        let (result, weights) = self.attend([query, key, value], masks, weights)?;
        let weights = weights.ok_or_else(|| BadArgument::value("weights", "missing", "the attention weights"))?;
        Ok((observe(self, Ok(result))?, weights))
    }

    fn attend(
        &self,
        [query, key, value]: [&Tensor; 3],
        masks: AttentionMasks<'_>,
        weights: ReturnedWeights,
    ) -> Result<(Tensor, Option<Tensor>)> {
        if let Some((&features, sizes)) = query.sizes().split_last()
            && features != self.embed_dim
        {
            return Err(BadArgument::size("query", query.sizes(), sizes.len(), self.embed_dim)
                .because("the layer has this `embed_dim`")
                .into());
        }
        let layer = MultiHeadAttention {
            heads: self.num_heads,
            in_projection: self.in_projection()?,
            in_bias: self.in_proj_bias.as_deref(),
            extra_key_value: self.bias_k.as_deref().zip(self.bias_v.as_deref()).map(|(key, value)| [key, value]),
            add_zero_attn: self.add_zero_attn,
            dropout: if self.training.is_on() { self.dropout } else { 0.0 },
            out_weight: &self.out_proj.weight,
            out_bias: self.out_proj.bias.as_deref(),
        };
        let AttentionMasks { attn_mask, key_padding_mask, is_causal } = masks;
        let options = AttentionOptions { key_padding_mask, attn_mask, is_causal, weights };
        if !self.batch_first || query.sizes().len() != 3 {
            return aten::functional::multi_head_attention_forward(query, key, value, &layer, options);
        }
        // Inputs that are the same tensor stay so, because they are then projected by one product.
        let length_first = |tensor: &Tensor| tensor.transpose(0, 1);
        let first = length_first(query)?;
        let second = if key.same(query) { first.clone() } else { length_first(key)? };
        let third = if value.same(key) { second.clone() } else { length_first(value)? };
        let (result, weights) =
            aten::functional::multi_head_attention_forward(&first, &second, &third, &layer, options)?;
        Ok((result.transpose(0, 1)?, weights))
    }

    fn in_projection(&self) -> Result<InProjection<'_>, BadArgument> {
        let separate = || {
            let (query, key, value) = (&self.q_proj_weight, &self.k_proj_weight, &self.v_proj_weight);
            Some(InProjection::Separate { query: query.as_deref()?, key: key.as_deref()?, value: value.as_deref()? })
        };
        let packed = self.in_proj_weight.as_deref().map(InProjection::Packed);
        let missing = || {
            BadArgument::value(
                "in_proj_weight",
                "None",
                "a parameter, unless there is one each for query, key and value",
            )
        };
        packed.or_else(separate).ok_or_else(missing)
    }
}

/// Returns a parameter that an initialiser fills.
fn initial_param<const N: usize>(sizes: [i64; N], fill: fn(&Tensor, f64) -> Result<()>) -> Result<Param> {
    let tensor = Tensor::empty(sizes, ())?;
    fill(&tensor, 1.0)?;
    Param::new(tensor)
}
