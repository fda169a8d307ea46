//! Images of other sizes.

mod grid;
mod upsample;

pub use grid::*;
pub use upsample::*;
