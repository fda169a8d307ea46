//! Products of matrices, and what is made of them.

mod contraction;
mod covariance;
mod cross_kron;
mod distance;
mod einsum;
mod multi_dot;
mod product;

/// What the family brings to the crate. A file may be named as an operator, so this is a module of its own.
pub(crate) mod operators {
    pub use super::{contraction::*, covariance::*, cross_kron::*, distance::*, einsum::*, multi_dot::*, product::*};
}
