//! Of sums and their like, along dimensions.

mod norms;
mod scan;
pub(super) mod sums;
mod variance;
