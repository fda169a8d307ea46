//! Images of other sizes.

mod grid_sample;
mod upsample;

/// What the family brings to the crate. A file may be named as an operator, so this is a module of its own.
pub(crate) mod operators {
    pub use super::{grid_sample::*, upsample::*};
}
