//! Reductions and scans: sums, means, variances, norms, maxima, counts, cumulative sums.

mod bincount;
mod finite_differences;
mod hash;
mod min_max;
mod norms;
mod scan;
mod sums;
mod trapezoid;
mod variance;

/// The public items of the family. They are in a module of their own, as a file may have the name of an operator.
pub(crate) mod operators {
    pub use super::{
        bincount::*, finite_differences::*, hash::*, min_max::*, norms::*, scan::*, sums::*, trapezoid::*, variance::*,
    };
}
