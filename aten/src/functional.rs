//! Functions over tensors that are not operators: the part of PyTorch's `torch.nn.functional` that composes operators.
//!
//! Each calls operators, so autograd, autocast and every device support it. Functions that are operators are not repeated here:
//! `x.softmax(-1)`, [`linear`](crate::linear), [`layer_norm`](crate::layer_norm).

#[cfg(feature = "attention")]
mod attention;
#[cfg(feature = "random")]
mod channel_dropout;
mod elementwise;
#[cfg(feature = "loss")]
mod loss;
mod norm;
#[cfg(feature = "pooling")]
mod pooling;
#[cfg(feature = "resize")]
mod resize;
#[cfg(feature = "conv")]
mod unfold;

#[cfg(feature = "attention")]
pub use attention::{
    AttentionOptions, InProjection, MultiHeadAttention, ReturnedWeights, multi_head_attention_forward,
};
#[cfg(feature = "random")]
pub use channel_dropout::{dropout1d, dropout2d, dropout3d};
pub use elementwise::{softsign, tanhshrink};
#[cfg(feature = "loss")]
pub use loss::{gaussian_nll_loss, multilabel_soft_margin_loss, triplet_margin_with_distance_loss};
#[cfg(all(feature = "norm", feature = "random"))]
pub use norm::gumbel_softmax;
#[cfg(feature = "pooling")]
pub use norm::local_response_norm;
pub use norm::normalize;
#[cfg(feature = "norm")]
pub use norm::softmin;
#[cfg(feature = "pooling")]
pub use pooling::{lp_pool1d, lp_pool2d, lp_pool3d};
#[cfg(feature = "resize")]
pub use resize::{InterpolationMode, OutputSize, interpolate};
#[cfg(feature = "conv")]
pub use unfold::{fold, unfold};
