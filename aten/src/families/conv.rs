//! Convolutions.

mod conv_nd;
mod convolution;

/// What the family brings to the crate. A file may be named as an operator, so this is a module of its own.
pub(crate) mod operators {
    pub use super::{conv_nd::*, convolution::*};
}
