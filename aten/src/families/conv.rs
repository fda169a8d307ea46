//! Convolutions.

mod by_rank;
mod convolutions;

pub use by_rank::*;
pub use convolutions::*;
