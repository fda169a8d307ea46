//! Functions over tensors that are no operators: what networks are built of, as PyTorch's `torch.nn.functional` has it.
//!
//! Each is composed of operators, so it is differentiated, cast and moved as they are. What is an operator already is not here again:
//! `x.softmax_int(-1, None)`, [`linear`](crate::linear), [`layer_norm`](crate::layer_norm).

mod activation;
mod attention;
mod channels;
mod interpolate;
mod loss;
mod pooling;

pub use activation::{gumbel_softmax, softmin, softsign, tanhshrink};
pub use attention::{InProjection, MultiHead, Viewed, Weights, multi_head_attention_forward};
pub use channels::{dropout1d, dropout2d, dropout3d, local_response_norm, normalize};
pub use interpolate::{Size, Style, interpolate};
pub use loss::{gaussian_nll_loss, triplet_margin_with_distance_loss};
pub use pooling::{fold, lp_pool1d, lp_pool2d, lp_pool3d, unfold};
