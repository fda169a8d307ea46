//! Fewer numbers than there were: sums, means, moments, norms, scans, counts.

mod counting;
mod means;
mod moments;
mod norms;
mod scan;
mod totals;

/// What the family brings to the crate. A file may be named as an operator, so this is a module of its own.
pub(crate) mod operators {
    pub use super::{counting::*, means::*, moments::*, norms::*, scan::*, totals::*};
}
