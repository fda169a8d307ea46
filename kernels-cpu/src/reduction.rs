//! Sums, extremes, truths and norms.

pub(crate) mod extremes;
mod norms;
mod sums;
pub(crate) mod variances;
