//! Pooling: average, max, adaptive and fractional pooling, and max unpooling.

mod fractional;
mod pool1d;
mod pool_nd;
mod unpooling;

/// The public items of the family. They are in a module of their own, as a file may have the name of an operator.
pub(crate) mod operators {
    pub use super::{fractional::*, pool_nd::*, pool1d::*, unpooling::*};
}
