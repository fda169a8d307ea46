//! Sums, extremes, truths and norms.
#![forbid(unsafe_code)]

mod extremes;
mod norms;
pub mod sums;
mod variances;
