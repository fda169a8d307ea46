//! Sums, extremes, truths and norms.

pub(crate) mod extremes;
mod norms;
pub(crate) mod sums;
pub(crate) mod variances;
