//! Networks over sequences, and packed sequences.

mod networks;
mod packs;

pub use networks::*;
pub use packs::*;
