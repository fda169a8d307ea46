//! Sums, extremes, truths and norms; what runs along a dimension; and counts.
#![forbid(unsafe_code)]

mod counting;
mod extremes;
mod norms;
mod scan;
pub mod sums;
mod variances;
