//! Elements at places: indexing, masks, scatters, segments, searches.

mod embedding_bag;
mod index;
mod scatter;
mod search;
mod segment_reduce;
mod unsafe_index;

/// What the family brings to the crate. A file may be named as an operator, so this is a module of its own.
pub(crate) mod operators {
    pub use super::{embedding_bag::*, index::*, scatter::*, search::*, segment_reduce::*, unsafe_index::*};
}
