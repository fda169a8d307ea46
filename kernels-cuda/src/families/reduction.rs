//! Sums, extremes, truths and norms.

mod bincount;
mod min_max;
mod norms;
mod scan;
pub(super) mod sums;
pub(super) mod variance;
