//! Fewer numbers than there were: sums, means, moments, norms, scans, counts.

mod bincount;
mod finite_differences;
mod means;
mod norms;
mod scan;
mod sums;
mod variance;

/// What the family brings to the crate. A file may be named as an operator, so this is a module of its own.
pub(crate) mod operators {
    pub use super::{bincount::*, finite_differences::*, means::*, norms::*, scan::*, sums::*, variance::*};
}
