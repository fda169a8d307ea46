//! The encoder of a transformer.

use dispatch_runtime::{IntoInt, Result, Tensor};

use super::{FeedForward, TransformerActivation, TransformerLayerOptions, copies, layer_norm};
use crate::forward::Forward;
use crate::layers::attention::{AttentionMasks, MultiheadAttention};
use crate::layers::dropout::Dropout;
use crate::layers::linear::Linear;
use crate::layers::norm::LayerNorm;
use crate::summary::observe;

/// A layer of a transformer's encoder: self-attention and a feed-forward network, each added to its input and normalised.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::{Forward, TransformerEncoderLayer};
/// use dispatch_runtime::Tensor;
///
/// let layer = TransformerEncoderLayer::new(8, 2)?;
/// assert_eq!(layer.forward(&Tensor::randn((5, 3, 8), ())?)?.sizes(), [5, 3, 8]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug, crate::Module)]
pub struct TransformerEncoderLayer {
    /// The attention of the input to itself.
    pub self_attn: MultiheadAttention,
    /// The first linear layer of the feed-forward network.
    pub linear1: Linear,
    /// The second linear layer of the feed-forward network.
    pub linear2: Linear,
    /// The normalisation of the attention.
    pub norm1: LayerNorm,
    /// The normalisation of the feed-forward network.
    pub norm2: LayerNorm,
    dropout: Dropout,
    #[module(skip)]
    activation: TransformerActivation,
    norm_first: bool,
}

impl TransformerEncoderLayer {
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
        let d_model = d_model.into_int();
        let self_attn = MultiheadAttention::with(d_model, nhead, options.attention())?;
        let [linear1, linear2] = options.linears(d_model)?;
        Ok(Self {
            self_attn,
            linear1,
            linear2,
            norm1: layer_norm(d_model, options)?,
            norm2: layer_norm(d_model, options)?,
            dropout: Dropout::new(options.dropout)?,
            activation: options.activation,
            norm_first: options.norm_first,
        })
    }

    /// Computes the layer with masks.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`](dispatch_runtime::BadArgument) if sizes do not fit.
    pub fn forward_masked(&self, src: &Tensor, masks: AttentionMasks<'_>) -> Result<Tensor> {
        let attend = |x: &Tensor| self.dropout.forward(&self.self_attn.forward_masked(x, x, x, masks)?);
        let feed_forward = FeedForward {
            linear1: &self.linear1,
            linear2: &self.linear2,
            dropout: &self.dropout,
            activation: self.activation,
        };
        let result = if self.norm_first {
            let x = (src + attend(&self.norm1.forward(src)?)?)?;
            &x + feed_forward.forward(&self.norm2.forward(&x)?)?
        } else {
            let x = self.norm1.forward(&(src + attend(src)?)?)?;
            self.norm2.forward(&(&x + feed_forward.forward(&x)?)?)
        };
        observe(self, result)
    }
}

impl Forward for TransformerEncoderLayer {
    type Output = Tensor;

    fn forward(&self, src: &Tensor) -> Result<Tensor> {
        self.forward_masked(src, AttentionMasks::default())
    }
}

/// Encoder layers in a row, and a normalisation.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::{Forward, Module, TransformerEncoder, TransformerEncoderLayer};
/// use dispatch_runtime::Tensor;
///
/// let encoder = TransformerEncoder::new(&TransformerEncoderLayer::new(8, 2)?, 3)?;
/// assert_eq!(encoder.forward(&Tensor::randn((5, 3, 8), ())?)?.sizes(), [5, 3, 8]);
/// assert_eq!(encoder.parameters()[0].name, "layers.0.self_attn.in_proj_weight");
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug, crate::Module)]
pub struct TransformerEncoder {
    /// The layers.
    pub layers: Vec<TransformerEncoderLayer>,
    /// The normalisation of the last layer's output.
    pub norm: Option<LayerNorm>,
}

impl TransformerEncoder {
    /// Creates copies of a layer.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`](dispatch_runtime::BadArgument) if the number of layers is not positive.
    pub fn new(encoder_layer: &TransformerEncoderLayer, num_layers: impl IntoInt) -> Result<Self> {
        Ok(Self { layers: copies(encoder_layer, num_layers)?, norm: None })
    }

    /// Creates copies of a layer with a normalisation after them.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`](dispatch_runtime::BadArgument) if the number of layers is not positive.
    pub fn with_norm(
        encoder_layer: &TransformerEncoderLayer,
        num_layers: impl IntoInt,
        norm: LayerNorm,
    ) -> Result<Self> {
        Ok(Self { norm: Some(norm), ..Self::new(encoder_layer, num_layers)? })
    }

    /// Computes the layers, each with the same masks.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`](dispatch_runtime::BadArgument) if sizes do not fit.
    pub fn forward_masked(&self, src: &Tensor, masks: AttentionMasks<'_>) -> Result<Tensor> {
        let last = self.layers.iter().try_fold(src.clone(), |x, layer| layer.forward_masked(&x, masks))?;
        observe(self, self.norm.as_ref().map_or(Ok(last.clone()), |norm| norm.forward(&last)))
    }
}

impl Forward for TransformerEncoder {
    type Output = Tensor;

    fn forward(&self, src: &Tensor) -> Result<Tensor> {
        self.forward_masked(src, AttentionMasks::default())
    }
}
