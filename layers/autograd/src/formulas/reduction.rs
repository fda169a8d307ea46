//! Gradient formulas of reductions and scans.

pub(super) mod min_max;
mod norms;
mod scan;
pub(super) mod sums;
mod variance;
