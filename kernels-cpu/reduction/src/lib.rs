//! Sums, extremes, truths and norms; what runs along a dimension; and counts.
#![forbid(unsafe_code)]

mod bincount;
mod min_max;
mod norms;
mod scan;
pub mod sums;
mod variance;
