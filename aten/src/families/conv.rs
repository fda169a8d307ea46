//! Convolutions.

mod conv_nd;
mod convolution;
mod im2col;

/// What the family brings to the crate. A file may be named as an operator, so this is a module of its own.
pub(crate) mod operators {
    pub use super::{conv_nd::*, convolution::*, im2col::*};
}
