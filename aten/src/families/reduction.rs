//! Fewer numbers than there were: sums, means, moments, norms, scans, counts.

mod counting;
mod differences;
mod moments;
mod norms;
mod scan;
mod statistics;
mod totals;

pub use counting::*;
pub use differences::*;
pub use moments::*;
pub use norms::*;
pub use scan::*;
pub use statistics::*;
pub use totals::*;
