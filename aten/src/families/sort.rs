//! Order: sorted, distinct and median elements, and histograms.

mod distinct;
mod histogram;
mod order;
mod quantiles;

/// What the family brings to the crate. A file may be named as an operator, so this is a module of its own.
pub(crate) mod operators {
    pub use super::{distinct::*, histogram::*, order::*, quantiles::*};
}
