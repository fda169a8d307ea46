//! Order: sorted, distinct and median elements, and histograms.

mod histogram;
mod quantile;
mod sort_topk;
mod unique;

/// What the family brings to the crate. A file may be named as an operator, so this is a module of its own.
pub(crate) mod operators {
    pub use super::{histogram::*, quantile::*, sort_topk::*, unique::*};
}
