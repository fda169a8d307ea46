//! Neural networks: modules with PyTorch's names, data loading, and checkpoints.
//!
//! In an application, this crate is `opdispatch::nn`. `use opdispatch::prelude::*` has the traits and macros that the examples import from other
//! crates.
//!
//! A model is a struct with `#[derive(Module)]`. Its fields are layers, [`Param`]s and [`Buffer`]s, and [`Forward`] computes its output.
//!
//! ```
//! # use kernels_cpu as _;
//! use aten::prelude::*;
//! use dispatch_nn::{self as nn, Forward, Module};
//! use dispatch_runtime::prelude::*;
//!
//! #[derive(Clone, Module)]
//! struct Net {
//!     fc1: nn::Linear,
//!     fc2: nn::Linear,
//! }
//!
//! impl Net {
//!     fn new() -> Result<Self> {
//!         Ok(Self { fc1: nn::Linear::new(4, 8)?, fc2: nn::Linear::new(8, 2)? })
//!     }
//! }
//!
//! impl Forward for Net {
//!     type Output = Tensor;
//!
//!     fn forward(&self, x: &Tensor) -> Result<Tensor> {
//!         self.fc2.forward(&self.fc1.forward(x)?.relu()?)
//!     }
//! }
//!
//! # fn main() -> Result<()> {
//! let net = Net::new()?;
//! assert_eq!(net.forward(&Tensor::zeros((3, 4), ())?)?.sizes(), [3, 2]);
//! assert_eq!(net.num_parameters(), 4 * 8 + 8 + 8 * 2 + 2);
//! assert!(net.state_dict()?.contains_key("fc1.weight"));
//! # Ok(())
//! # }
//! ```
//!
//! # Layers
//!
//! Layers have PyTorch's names, options, defaults and initial values. `new` takes what PyTorch requires. Layers with tensors or checks have
//! a second constructor for the rest, and layers without have their options as public fields:
//!
//! ```
//! # use kernels_cpu as _;
//! use dispatch_nn as nn;
//!
//! let conv = nn::Conv2d::with(3, 8, 3, nn::ConvOptions { stride: 2.into(), ..nn::ConvOptions::default() })?;
//! let loss = nn::CrossEntropyLoss { label_smoothing: 0.1, ..nn::CrossEntropyLoss::new() };
//! # Ok::<(), dispatch_runtime::Error>(())
//! ```
//!
//! | group | layers |
//! |---|---|
//! | products | [`Linear`] [`Bilinear`] |
//! | convolutions | [`Conv1d`] [`Conv2d`] [`Conv3d`] [`ConvTranspose1d`] [`ConvTranspose2d`] [`ConvTranspose3d`] [`Unfold`] [`Fold`] |
//! | normalisation over the batch | [`BatchNorm1d`] [`BatchNorm2d`] [`BatchNorm3d`] |
//! | normalisation of each item | [`InstanceNorm1d`] [`InstanceNorm2d`] [`InstanceNorm3d`] [`GroupNorm`] [`LayerNorm`] [`RMSNorm`] [`LocalResponseNorm`] |
//! | dropout | [`Dropout`] [`Dropout1d`] [`Dropout2d`] [`Dropout3d`] [`AlphaDropout`] [`FeatureAlphaDropout`] |
//! | pooling | [`MaxPool1d`] [`MaxPool2d`] [`MaxPool3d`] [`AvgPool1d`] [`AvgPool2d`] [`AvgPool3d`] [`LPPool1d`] [`LPPool2d`] [`LPPool3d`] [`FractionalMaxPool2d`] [`FractionalMaxPool3d`] [`MaxUnpool1d`] [`MaxUnpool2d`] [`MaxUnpool3d`] |
//! | pooling to a size | [`AdaptiveAvgPool1d`] [`AdaptiveAvgPool2d`] [`AdaptiveAvgPool3d`] [`AdaptiveMaxPool1d`] [`AdaptiveMaxPool2d`] [`AdaptiveMaxPool3d`] |
//! | borders | [`ZeroPad1d`] [`ZeroPad2d`] [`ZeroPad3d`] [`ConstantPad1d`] [`ConstantPad2d`] [`ConstantPad3d`] [`ReflectionPad1d`] [`ReflectionPad2d`] [`ReflectionPad3d`] [`ReplicationPad1d`] [`ReplicationPad2d`] [`ReplicationPad3d`] [`CircularPad1d`] [`CircularPad2d`] [`CircularPad3d`] |
//! | sizes and shapes | [`Upsample`] [`UpsamplingNearest2d`] [`UpsamplingBilinear2d`] [`PixelShuffle`] [`PixelUnshuffle`] [`ChannelShuffle`] [`Flatten`] [`Unflatten`] [`Identity`] |
//! | activations | [`ReLU`] [`ReLU6`] [`LeakyReLU`] [`PReLU`] [`RReLU`] [`ELU`] [`SELU`] [`CELU`] [`GELU`] [`SiLU`] [`Mish`] [`Sigmoid`] [`LogSigmoid`] [`Tanh`] [`Tanhshrink`] [`Softplus`] [`Softsign`] [`Softshrink`] [`Hardshrink`] [`Hardtanh`] [`Hardsigmoid`] [`Hardswish`] [`Threshold`] [`GLU`] |
//! | probabilities | [`Softmax`] [`Softmin`] [`LogSoftmax`] [`Softmax2d`] |
//! | losses of numbers | [`L1Loss`] [`MSELoss`] [`SmoothL1Loss`] [`HuberLoss`] |
//! | losses of classes | [`CrossEntropyLoss`] [`NLLLoss`] [`BCELoss`] [`BCEWithLogitsLoss`] [`MultiLabelSoftMarginLoss`] [`MultiLabelMarginLoss`] [`MultiMarginLoss`] [`CTCLoss`] |
//! | losses of distributions | [`KLDivLoss`] [`PoissonNLLLoss`] [`GaussianNLLLoss`] |
//! | losses of similarities | [`CosineEmbeddingLoss`] [`MarginRankingLoss`] [`HingeEmbeddingLoss`] [`SoftMarginLoss`] [`TripletMarginLoss`] |
//! | distances | [`CosineSimilarity`] [`PairwiseDistance`] |
//! | tables of vectors | [`Embedding`] [`EmbeddingBag`] |
//! | attention | [`MultiheadAttention`] [`Transformer`] [`TransformerEncoder`] [`TransformerEncoderLayer`] [`TransformerDecoder`] [`TransformerDecoderLayer`] |
//! | recurrent layers | [`RNN`] [`LSTM`] [`GRU`] [`RNNCell`] [`LSTMCell`] [`GRUCell`] |
//! | containers | [`Sequential`] [`ModuleList`] [`ModuleDict`] |
//!
//! [`init`] has the functions that draw initial values, and [`utils::rnn`] packs sequences of different lengths.
//! [`Module::summary`] prints a table of a model.
#![forbid(unsafe_code)]

extern crate self as dispatch_nn;

pub mod checkpoint;
pub mod data;
mod forward;
pub mod init;
mod layers;
mod module;
mod param;
mod state;
mod state_dict;
mod summary;
pub mod utils;
mod visit;

pub use dispatch_macros::Module;
pub use forward::{Forward, Layer};
pub use layers::*;
pub use module::Module;
pub use param::{Buffer, NamedParam, Param, Training};
pub use state::{State, StateError, StateProblem, StateReader, Stateful};
pub use state_dict::{IncompatibleKeys, StateDictError, WrongShape};
pub use summary::{ModuleSummary, Summary};
pub use visit::{ModulePath, ModuleRef, Part, PartMut, Visit};

/// Items that generated code names. Not public API.
#[doc(hidden)]
pub mod __private {
    pub use crate::{Module, ModulePath, ModuleRef, Part, PartMut, Visit};
}
