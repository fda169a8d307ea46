//! One element for each window.

mod fractional;
mod pool1d;
mod pool_nd;
mod unpooling;

/// What the family brings to the crate. A file may be named as an operator, so this is a module of its own.
pub(crate) mod operators {
    pub use super::{fractional::*, pool_nd::*, pool1d::*, unpooling::*};
}
