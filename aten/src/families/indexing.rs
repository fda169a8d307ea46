//! Elements at places: indexing, masks, scatters, segments, searches.

mod embedding;
mod embedding_bag;
mod index;
mod index_add;
mod item;
mod mask;
mod scatter;
mod search;
mod segment_reduce;
mod unsafe_index;
mod view_scatter;

/// What the family brings to the crate. A file may be named as an operator, so this is a module of its own.
pub(crate) mod operators {
    pub use super::{
        embedding::*, embedding_bag::*, index::*, index_add::*, item::*, mask::*, scatter::*, search::*,
        segment_reduce::*, unsafe_index::*, view_scatter::*,
    };
}
