//! Sums, extremes, truths and norms.

mod extremes;
mod norms;
mod sums;
mod variances;
