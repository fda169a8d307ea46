//! Resizing and grid sampling of images.

mod grid_sample;
mod upsample;

/// The public items of the family. They are in a module of their own, as a file may have the name of an operator.
pub(crate) mod operators {
    pub use super::{grid_sample::*, upsample::*};
}
