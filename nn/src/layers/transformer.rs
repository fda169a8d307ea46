//! The transformer: layers of attention and feed-forward networks, for encoders and decoders.

mod decoder;
mod encoder;

pub use decoder::{TransformerDecoder, TransformerDecoderLayer};
pub use encoder::{TransformerEncoder, TransformerEncoderLayer};

use aten::prelude::*;
use dispatch_runtime::{IntoInt, Result, Tensor};

use super::attention::{AttentionMasks, MultiheadAttentionOptions};
use super::checks::check_positive;
use super::dropout::Dropout;
use super::linear::Linear;
use super::norm::{LayerNorm, LayerNormOptions};
use crate::forward::Forward;
use crate::init;
use crate::module::Module;
use crate::summary::observe;

/// The options of [`TransformerEncoderLayer`] and [`TransformerDecoderLayer`].
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{TransformerEncoderLayer, TransformerLayerOptions};
/// let options = TransformerLayerOptions { batch_first: true, norm_first: true, ..TransformerLayerOptions::default() };
/// TransformerEncoderLayer::with(8, 2, options)?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TransformerLayerOptions {
    /// The size between the two linear layers of the feed-forward network. The default is 2048.
    pub dim_feedforward: i64,
    /// The probability of dropout. The default is 0.1.
    pub dropout: f64,
    /// The activation function between the two linear layers.
    pub activation: TransformerActivation,
    /// The number that normalisations add to variances. The default is 1e-5.
    pub layer_norm_eps: f64,
    /// Whether inputs have sizes `[batch, length, features]` instead of `[length, batch, features]`.
    pub batch_first: bool,
    /// Whether normalisations come before attention and feed-forward network, instead of after them.
    pub norm_first: bool,
    /// Whether linear layers and normalisations have biases, which is the default.
    pub bias: bool,
}

impl Default for TransformerLayerOptions {
    fn default() -> Self {
        Self {
            dim_feedforward: 2048,
            dropout: 0.1,
            activation: TransformerActivation::ReLU,
            layer_norm_eps: 1e-5,
            batch_first: false,
            norm_first: false,
            bias: true,
        }
    }
}

/// The activation function of the feed-forward network of a transformer.
///
/// ```
/// assert_eq!(dispatch_nn::TransformerActivation::default(), dispatch_nn::TransformerActivation::ReLU);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum TransformerActivation {
    /// `max(x, 0)`.
    #[default]
    ReLU,
    /// `x` times the normal distribution's probability of less than `x`.
    GELU,
}

/// An encoder and a decoder, as in "Attention Is All You Need".
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::{Transformer, TransformerOptions};
/// use dispatch_runtime::Tensor;
///
/// let options = TransformerOptions { num_encoder_layers: 1, num_decoder_layers: 1, ..TransformerOptions::default() };
/// let transformer = Transformer::with(8, 2, options)?;
/// let (source, target) = (Tensor::randn((5, 3, 8), ())?, Tensor::randn((4, 3, 8), ())?);
/// assert_eq!(transformer.forward(&source, &target)?.sizes(), [4, 3, 8]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug, crate::Module)]
pub struct Transformer {
    /// The layers that read the source.
    pub encoder: TransformerEncoder,
    /// The layers that read the target and the encoder's result.
    pub decoder: TransformerDecoder,
}

/// The options of [`Transformer`].
///
/// ```
/// let options = dispatch_nn::TransformerOptions::default();
/// assert_eq!((options.num_encoder_layers, options.num_decoder_layers), (6, 6));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TransformerOptions {
    /// The number of layers of the encoder. The default is 6.
    pub num_encoder_layers: i64,
    /// The number of layers of the decoder. The default is 6.
    pub num_decoder_layers: i64,
    /// The options of each layer.
    pub layer: TransformerLayerOptions,
}

impl Default for TransformerOptions {
    fn default() -> Self {
        Self { num_encoder_layers: 6, num_decoder_layers: 6, layer: TransformerLayerOptions::default() }
    }
}

/// The masks of a [`Transformer`].
///
/// ```
/// use dispatch_nn::{AttentionMasks, TransformerMasks};
/// let causal = AttentionMasks { is_causal: true, ..AttentionMasks::default() };
/// let masks = TransformerMasks { tgt: causal, ..TransformerMasks::default() };
/// assert!(!masks.src.is_causal);
/// ```
#[derive(Clone, Copy, Default, Debug)]
pub struct TransformerMasks<'a> {
    /// The masks of the source in the encoder.
    pub src: AttentionMasks<'a>,
    /// The masks of the target in the decoder.
    pub tgt: AttentionMasks<'a>,
    /// The masks of the encoder's result in the decoder.
    pub memory: AttentionMasks<'a>,
}

impl Transformer {
    /// Creates six layers of each kind. Matrices have Glorot's uniform distribution.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`](dispatch_runtime::BadArgument) if `d_model` is not positive, or if `nhead` does not divide it.
    pub fn new(d_model: impl IntoInt, nhead: impl IntoInt) -> Result<Self> {
        Self::with(d_model, nhead, TransformerOptions::default())
    }

    /// Creates layers with options.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`](dispatch_runtime::BadArgument) if a size is not positive, if `nhead` does not divide `d_model`, or if
    /// `dropout` is no probability.
    pub fn with(d_model: impl IntoInt, nhead: impl IntoInt, options: TransformerOptions) -> Result<Self> {
        let (d_model, nhead) = (d_model.into_int(), nhead.into_int());
        let TransformerOptions { num_encoder_layers, num_decoder_layers, layer } = options;
        let encoder_layer = TransformerEncoderLayer::with(d_model, nhead, layer)?;
        let decoder_layer = TransformerDecoderLayer::with(d_model, nhead, layer)?;
        let (first, second) = (layer_norm(d_model, layer)?, layer_norm(d_model, layer)?);
        let transformer = Self {
            encoder: TransformerEncoder::with_norm(&encoder_layer, num_encoder_layers, first)?,
            decoder: TransformerDecoder::with_norm(&decoder_layer, num_decoder_layers, second)?,
        };
        for parameter in transformer.parameters() {
            if parameter.sizes().len() > 1 {
                init::xavier_uniform_(&parameter, 1.0)?;
            }
        }
        Ok(transformer)
    }

    /// Encodes the source, and decodes the target with it.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`](dispatch_runtime::BadArgument) if sizes do not fit.
    pub fn forward(&self, src: &Tensor, tgt: &Tensor) -> Result<Tensor> {
        self.forward_masked(src, tgt, TransformerMasks::default())
    }

    /// Encodes the source, and decodes the target with it, with masks.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`](dispatch_runtime::BadArgument) if sizes do not fit.
    pub fn forward_masked(&self, src: &Tensor, tgt: &Tensor, masks: TransformerMasks<'_>) -> Result<Tensor> {
        let memory = self.encoder.forward_masked(src, masks.src)?;
        observe(self, self.decoder.forward_masked(tgt, &memory, masks.tgt, masks.memory))
    }
}

/// The two linear layers of a transformer layer, with the options of the layer.
struct FeedForward<'a> {
    linear1: &'a Linear,
    linear2: &'a Linear,
    dropout: &'a Dropout,
    activation: TransformerActivation,
}

impl FeedForward<'_> {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let inner = self.linear1.forward(x)?;
        let inner = match self.activation {
            TransformerActivation::ReLU => inner.relu()?,
            TransformerActivation::GELU => inner.gelu()?,
        };
        self.dropout.forward(&self.linear2.forward(&self.dropout.forward(&inner)?)?)
    }
}

impl TransformerLayerOptions {
    /// Returns the options of the attention in a layer.
    fn attention(self) -> MultiheadAttentionOptions {
        let Self { dropout, bias, batch_first, .. } = self;
        MultiheadAttentionOptions { dropout, bias, batch_first, ..MultiheadAttentionOptions::default() }
    }

    /// Creates the linear layers.
    fn linears(self, d_model: i64) -> Result<[Linear; 2]> {
        check_positive("dim_feedforward", self.dim_feedforward)?;
        let linear = |inputs, outputs| {
            if self.bias { Linear::new(inputs, outputs) } else { Linear::without_bias(inputs, outputs) }
        };
        Ok([linear(d_model, self.dim_feedforward)?, linear(self.dim_feedforward, d_model)?])
    }
}

/// Creates the normalisation of a transformer layer.
fn layer_norm(d_model: i64, options: TransformerLayerOptions) -> Result<LayerNorm> {
    let TransformerLayerOptions { layer_norm_eps: eps, bias, .. } = options;
    LayerNorm::with(d_model, LayerNormOptions { eps, bias, ..LayerNormOptions::default() })
}

/// Creates copies of a layer.
fn copies<L: Module + Clone>(layer: &L, num_layers: impl IntoInt) -> Result<Vec<L>> {
    let count = num_layers.into_int();
    check_positive("num_layers", count)?;
    (0..count).map(|_| layer.deep_clone()).collect()
}
