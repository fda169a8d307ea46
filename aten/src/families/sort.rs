//! Sorting: order, ranks, quantiles, distinct elements and histograms.

mod histogram;
mod quantile;
mod sort_topk;
mod unique;

/// The public items of the family. They are in a module of their own, as a file may have the name of an operator.
pub(crate) mod operators {
    pub use super::{histogram::*, quantile::*, sort_topk::*, unique::*};
}
