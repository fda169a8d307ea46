//! Recurrent networks: cells, layers and packed sequences.

mod cells;
mod checks;
mod layers;
mod packed_sequence;

/// The public items of the family. They are in a module of their own, as a file may have the name of an operator.
pub(crate) mod operators {
    pub use super::{cells::*, layers::*, packed_sequence::*};
}
