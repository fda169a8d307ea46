//! Indexing operators: gather, scatter, masks, embeddings, segments and searches.

mod embedding;
mod embedding_bag;
mod gradients;
mod index;
mod index_add;
mod item;
mod mask;
mod row_pruning;
mod scatter;
mod search;
mod segment_reduce;
mod unsafe_index;
mod view_scatter;

pub(super) use item::is_nonzero_scalar;

/// The items that the crate re-exports at its root. They need a separate module, because a file may have the name of an operator.
pub(crate) mod operators {
    pub use super::{
        embedding::*, embedding_bag::*, gradients::*, index::*, index_add::*, item::*, mask::*, row_pruning::*,
        scatter::*, search::*, segment_reduce::*, unsafe_index::*, view_scatter::*,
    };
}
