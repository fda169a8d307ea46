//! Fewer numbers than there were: sums, means, moments, norms, scans, counts.

mod bincount;
mod finite_differences;
mod min_max;
mod norms;
mod scan;
mod sums;
mod trapezoid;
mod variance;

/// What the family brings to the crate. A file may be named as an operator, so this is a module of its own.
pub(crate) mod operators {
    pub use super::{
        bincount::*, finite_differences::*, min_max::*, norms::*, scan::*, sums::*, trapezoid::*, variance::*,
    };
}
