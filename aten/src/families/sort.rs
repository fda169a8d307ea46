//! Order: sorted, distinct and median elements, and histograms.

mod distinct;
mod histogram;
mod order;
mod quantiles;

pub use distinct::*;
pub use histogram::*;
pub use order::*;
pub use quantiles::*;
