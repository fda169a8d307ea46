//! The layers, under PyTorch's names.

mod activation;
mod attention;
mod channel_norm;
mod checks;
mod conv;
mod conv_transpose;
mod define_layers;
mod distance;
mod dropout;
mod embedding;
mod embedding_bag;
mod linear;
mod loss;
mod module_dict;
mod norm;
mod padding;
mod per_dimension;
mod pooling;
mod recurrent;
mod sequential;
mod shape;
mod transformer;
mod upsample;

// The options of layers have these types. They are also the options of operators.
pub use aten::functional::InterpolationMode;
pub use aten::{AvgPoolOptions, BagMode, GeluApproximation, MaxPoolOptions, PadMode, Padding, Reduction};

pub use activation::*;
pub use attention::{AttentionMasks, MultiheadAttention, MultiheadAttentionOptions};
pub use channel_norm::{
    BatchNorm1d, BatchNorm2d, BatchNorm3d, BatchNormOptions, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d,
    InstanceNormOptions,
};
pub use conv::{Conv1d, Conv2d, Conv3d, ConvOptions};
pub use conv_transpose::{ConvTranspose1d, ConvTranspose2d, ConvTranspose3d, ConvTransposeOptions};
pub use distance::{CosineSimilarity, PairwiseDistance};
pub use dropout::{AlphaDropout, Dropout, Dropout1d, Dropout2d, Dropout3d, FeatureAlphaDropout};
pub use embedding::{Embedding, EmbeddingOptions};
pub use embedding_bag::{EmbeddingBag, EmbeddingBagOptions};
pub use linear::{Bilinear, Linear};
pub use loss::*;
pub use module_dict::{ModuleDict, ModuleList};
pub use norm::{GroupNorm, GroupNormOptions, LayerNorm, LayerNormOptions, LocalResponseNorm, RMSNorm, RMSNormOptions};
pub use padding::*;
pub use pooling::*;
pub use recurrent::*;
pub use sequential::Sequential;
pub use shape::{
    ChannelShuffle, Flatten, Fold, FoldOptions, Identity, PixelShuffle, PixelUnshuffle, Unflatten, Unfold,
};
pub use transformer::*;
pub use upsample::{Upsample, UpsamplingBilinear2d, UpsamplingNearest2d};
