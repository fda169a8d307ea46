//! Matrix products, and operators composed of them: `einsum`, distances, covariance and others.

mod contraction;
mod covariance;
mod cross_kron;
mod distance;
mod einsum;
mod matrix_chain;
mod product;

/// The items that the crate re-exports at its root. They need a separate module, because a file may have the name of an operator.
pub(crate) mod operators {
    pub use super::{
        contraction::*, covariance::*, cross_kron::*, distance::*, einsum::*, matrix_chain::*, product::*,
    };
}
