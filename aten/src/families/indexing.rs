//! Elements at places: indexing, masks, scatters, segments, searches.

mod bags;
mod elements;
mod masked;
mod scatter;
mod search;
mod segments;

/// What the family brings to the crate. A file may be named as an operator, so this is a module of its own.
pub(crate) mod operators {
    pub use super::{bags::*, elements::*, masked::*, scatter::*, search::*, segments::*};
}
