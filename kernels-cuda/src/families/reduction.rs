//! CUDA kernels of reductions and scans: sums, extremes, norms, variances, counts and running sums.

mod bincount;
mod min_max;
mod norms;
mod scan;
pub(super) mod sums;
pub(super) mod variance;
