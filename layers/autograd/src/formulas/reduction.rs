//! Of sums and their like, along dimensions.

mod moments;
mod renorm;
mod scan;
pub(super) mod totals;
