//! Of sums and their like, along dimensions.

pub(super) mod min_max;
mod norms;
mod scan;
pub(super) mod sums;
mod variance;
