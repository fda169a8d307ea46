//! Networks over sequences, and packed sequences.

mod checks;
mod networks;
mod packs;

pub use networks::*;
pub use packs::*;
