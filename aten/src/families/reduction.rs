//! Fewer numbers than there were: sums, means, moments, norms, scans, counts.

mod counting;
mod means;
mod moments;
mod norms;
mod scan;
mod totals;

pub use counting::*;
pub use means::*;
pub use moments::*;
pub use norms::*;
pub use scan::*;
pub use totals::*;
