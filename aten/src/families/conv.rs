//! Convolution operators, and the unfolding of images into columns.

mod conv_nd;
mod convolution;
mod im2col;
mod named_algorithms;

/// The items that the crate re-exports at its root. They need a separate module, because a file may have the name of an operator.
pub(crate) mod operators {
    pub use super::{conv_nd::*, convolution::*, im2col::*, named_algorithms::*};
}
