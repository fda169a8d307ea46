//! The decoder of a transformer.

use dispatch_runtime::{IntoInt, Result, Tensor};

use super::{FeedForward, TransformerActivation, TransformerLayerOptions, copies, layer_norm};
use crate::forward::Forward;
use crate::layers::attention::{AttentionMasks, MultiheadAttention};
use crate::layers::dropout::Dropout;
use crate::layers::linear::Linear;
use crate::layers::norm::LayerNorm;
use crate::summary::observe;

/// A layer of a transformer's decoder: self-attention, attention to the encoder's result, and a feed-forward network, each added to its
/// input and normalised.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::TransformerDecoderLayer;
/// use dispatch_runtime::Tensor;
///
/// let layer = TransformerDecoderLayer::new(8, 2)?;
/// let (target, memory) = (Tensor::randn((4, 3, 8), ())?, Tensor::randn((5, 3, 8), ())?);
/// assert_eq!(layer.forward(&target, &memory)?.sizes(), [4, 3, 8]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug, crate::Module)]
pub struct TransformerDecoderLayer {
    /// The attention of the target to itself.
    pub self_attn: MultiheadAttention,
    /// The attention of the target to the encoder's result.
    pub multihead_attn: MultiheadAttention,
    /// The first linear layer of the feed-forward network.
    pub linear1: Linear,
    /// The second linear layer of the feed-forward network.
    pub linear2: Linear,
    /// The normalisation of the self-attention.
    pub norm1: LayerNorm,
    /// The normalisation of the attention to the encoder's result.
    pub norm2: LayerNorm,
    /// The normalisation of the feed-forward network.
    pub norm3: LayerNorm,
    dropout: Dropout,
    #[module(skip)]
    activation: TransformerActivation,
    norm_first: bool,
}

impl TransformerDecoderLayer {
    /// Creates a layer for inputs with `d_model` features.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`](dispatch_runtime::BadArgument) if `d_model` is not positive, or if `nhead` does not divide it.
    pub fn new(d_model: impl IntoInt, nhead: impl IntoInt) -> Result<Self> {
        Self::with(d_model, nhead, TransformerLayerOptions::default())
    }

    /// Creates a layer with options.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`](dispatch_runtime::BadArgument) if a size is not positive, if `nhead` does not divide `d_model`, or if
    /// `dropout` is no probability.
    pub fn with(d_model: impl IntoInt, nhead: impl IntoInt, options: TransformerLayerOptions) -> Result<Self> {
        let (d_model, nhead) = (d_model.into_int(), nhead.into_int());
        let self_attn = MultiheadAttention::with(d_model, nhead, options.attention())?;
        let multihead_attn = MultiheadAttention::with(d_model, nhead, options.attention())?;
        let [linear1, linear2] = options.linears(d_model)?;
        Ok(Self {
            self_attn,
            multihead_attn,
            linear1,
            linear2,
            norm1: layer_norm(d_model, options)?,
            norm2: layer_norm(d_model, options)?,
            norm3: layer_norm(d_model, options)?,
            dropout: Dropout::new(options.dropout)?,
            activation: options.activation,
            norm_first: options.norm_first,
        })
    }

    /// Computes the layer for a target and the encoder's result.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`](dispatch_runtime::BadArgument) if sizes do not fit.
    pub fn forward(&self, tgt: &Tensor, memory: &Tensor) -> Result<Tensor> {
        self.forward_masked(tgt, memory, AttentionMasks::default(), AttentionMasks::default())
    }

    /// Computes the layer with the masks of the target and those of the encoder's result.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`](dispatch_runtime::BadArgument) if sizes do not fit.
    pub fn forward_masked(
        &self,
        tgt: &Tensor,
        memory: &Tensor,
        tgt_masks: AttentionMasks<'_>,
        memory_masks: AttentionMasks<'_>,
    ) -> Result<Tensor> {
        let attend = |x: &Tensor| self.dropout.forward(&self.self_attn.forward_masked(x, x, x, tgt_masks)?);
        let attend_to_memory =
            |x: &Tensor| self.dropout.forward(&self.multihead_attn.forward_masked(x, memory, memory, memory_masks)?);
        let feed_forward = FeedForward {
            linear1: &self.linear1,
            linear2: &self.linear2,
            dropout: &self.dropout,
            activation: self.activation,
        };
        let result = if self.norm_first {
            let x = (tgt + attend(&self.norm1.forward(tgt)?)?)?;
            let x = (&x + attend_to_memory(&self.norm2.forward(&x)?)?)?;
            &x + feed_forward.forward(&self.norm3.forward(&x)?)?
        } else {
            let x = self.norm1.forward(&(tgt + attend(tgt)?)?)?;
            let x = self.norm2.forward(&(&x + attend_to_memory(&x)?)?)?;
            self.norm3.forward(&(&x + feed_forward.forward(&x)?)?)
        };
        observe(self, result)
    }
}

/// Decoder layers in a row, and a normalisation.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::{TransformerDecoder, TransformerDecoderLayer};
/// use dispatch_runtime::Tensor;
///
/// let decoder = TransformerDecoder::new(&TransformerDecoderLayer::new(8, 2)?, 3)?;
/// let (target, memory) = (Tensor::randn((4, 3, 8), ())?, Tensor::randn((5, 3, 8), ())?);
/// assert_eq!(decoder.forward(&target, &memory)?.sizes(), [4, 3, 8]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug, crate::Module)]
pub struct TransformerDecoder {
    /// The layers.
    pub layers: Vec<TransformerDecoderLayer>,
    /// The normalisation of the last layer's output.
    pub norm: Option<LayerNorm>,
}

impl TransformerDecoder {
    /// Creates copies of a layer.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`](dispatch_runtime::BadArgument) if the number of layers is not positive.
    pub fn new(decoder_layer: &TransformerDecoderLayer, num_layers: impl IntoInt) -> Result<Self> {
        Ok(Self { layers: copies(decoder_layer, num_layers)?, norm: None })
    }

    /// Creates copies of a layer with a normalisation after them.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`](dispatch_runtime::BadArgument) if the number of layers is not positive.
    pub fn with_norm(
        decoder_layer: &TransformerDecoderLayer,
        num_layers: impl IntoInt,
        norm: LayerNorm,
    ) -> Result<Self> {
        Ok(Self { norm: Some(norm), ..Self::new(decoder_layer, num_layers)? })
    }

    /// Computes the layers for a target and the encoder's result.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`](dispatch_runtime::BadArgument) if sizes do not fit.
    pub fn forward(&self, tgt: &Tensor, memory: &Tensor) -> Result<Tensor> {
        self.forward_masked(tgt, memory, AttentionMasks::default(), AttentionMasks::default())
    }

    /// Computes the layers, each with the same masks.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`](dispatch_runtime::BadArgument) if sizes do not fit.
    pub fn forward_masked(
        &self,
        tgt: &Tensor,
        memory: &Tensor,
        tgt_masks: AttentionMasks<'_>,
        memory_masks: AttentionMasks<'_>,
    ) -> Result<Tensor> {
        let layer =
            |x: Tensor, layer: &TransformerDecoderLayer| layer.forward_masked(&x, memory, tgt_masks, memory_masks);
        let last = self.layers.iter().try_fold(tgt.clone(), layer)?;
        observe(self, self.norm.as_ref().map_or(Ok(last.clone()), |norm| norm.forward(&last)))
    }
}
