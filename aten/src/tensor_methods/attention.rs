//! Attention.

use std::borrow::Borrow;

use dispatch_runtime::prelude::*;

/// Attention of queries to keys and values.
pub trait AttentionMethods: Borrow<Tensor> {
    /// Computes `softmax(q k^T / sqrt(width)) v` for these queries. PyTorch: `F.scaled_dot_product_attention`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::AttentionOptions;
    /// // 2 heads, 3 queries and keys of width 4.
    /// let (q, k, v) = (Tensor::ones((1, 2, 3, 4), ())?, Tensor::ones((1, 2, 3, 4), ())?, Tensor::ones((1, 2, 3, 4), ())?);
    /// let options = AttentionOptions { is_causal: true, ..AttentionOptions::default() };
    /// assert!(q.scaled_dot_product_attention(&k, &v, options)?.allclose(&v)?);
    /// # Ok::<(), Error>(())
    /// ```
    fn scaled_dot_product_attention(
        &self,
        key: &Tensor,
        value: &Tensor,
        options: AttentionOptions<'_>,
    ) -> Result<Tensor> {
        let AttentionOptions { attn_mask, dropout_p, is_causal, scale, enable_gqa } = options;
        crate::scaled_dot_product_attention(
            self.borrow(),
            key,
            value,
            attn_mask,
            dropout_p,
            is_causal,
            scale,
            enable_gqa,
        )
    }
}

impl AttentionMethods for Tensor {}

/// The options of [`AttentionMethods::scaled_dot_product_attention`].
///
/// ```
/// assert_eq!(aten::AttentionOptions::default().dropout_p, 0.0);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct AttentionOptions<'a> {
    /// The mask of queries and keys: a boolean one has the keys that take part, another one is added to the scores.
    pub attn_mask: Option<&'a Tensor>,
    /// The probability of dropout of the weights. A call in evaluation has 0, the default.
    pub dropout_p: f64,
    /// Whether a query sees only the keys up to its own position. A mask cannot be given then.
    pub is_causal: bool,
    /// The factor of the scores. The default is one divided by the root of the width.
    pub scale: Option<f64>,
    /// Whether a head of keys and values serves several heads of queries.
    pub enable_gqa: bool,
}
