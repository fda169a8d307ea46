//! CPU kernels of reductions, scans and counts.
#![forbid(unsafe_code)]

mod bincount;
mod min_max;
mod norms;
mod scan;
pub mod sums;
mod variance;
