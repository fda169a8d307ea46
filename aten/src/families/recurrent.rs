//! Networks over sequences, and packed sequences.

mod cells;
mod checks;
mod layers;
mod packed_sequence;

/// What the family brings to the crate. A file may be named as an operator, so this is a module of its own.
pub(crate) mod operators {
    pub use super::{cells::*, layers::*, packed_sequence::*};
}
