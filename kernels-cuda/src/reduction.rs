//! Sums, extremes, truths and norms.

mod extremes;
mod norms;
mod sums;
pub(crate) mod variances;
