//! Functions over tensors that are no operators: what networks are built of, as PyTorch's `torch.nn.functional` has it.
//!
//! Each is composed of operators, so it is differentiated, cast and moved as they are. What is an operator already is not here again:
//! `x.softmax_int(-1, None)`, [`linear`](crate::linear), [`layer_norm`](crate::layer_norm).

mod activation;
#[cfg(feature = "attention")]
mod attention;
#[cfg(feature = "pooling")]
mod channels;
#[cfg(feature = "conv")]
mod columns;
#[cfg(feature = "random")]
mod dropout;
#[cfg(feature = "resize")]
mod interpolate;
#[cfg(feature = "loss")]
mod loss;
mod norms;
#[cfg(feature = "pooling")]
mod pooling;
#[cfg(feature = "norm")]
mod softmax;

pub use activation::{softsign, tanhshrink};
#[cfg(feature = "attention")]
pub use attention::{InProjection, MultiHead, Viewed, Weights, multi_head_attention_forward};
#[cfg(feature = "pooling")]
pub use channels::local_response_norm;
#[cfg(feature = "conv")]
pub use columns::{fold, unfold};
#[cfg(feature = "random")]
pub use dropout::{dropout1d, dropout2d, dropout3d};
#[cfg(feature = "resize")]
pub use interpolate::{Size, Style, interpolate};
#[cfg(feature = "loss")]
pub use loss::{gaussian_nll_loss, triplet_margin_with_distance_loss};
pub use norms::normalize;
#[cfg(feature = "pooling")]
pub use pooling::{lp_pool1d, lp_pool2d, lp_pool3d};
#[cfg(all(feature = "norm", feature = "random"))]
pub use softmax::gumbel_softmax;
#[cfg(feature = "norm")]
pub use softmax::softmin;
