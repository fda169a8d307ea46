//! Sums, extremes, truths and norms.

mod extremes;
mod norms;
pub(crate) mod sums;
pub(crate) mod variances;
