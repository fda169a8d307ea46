//! Decompositions of matrices, linear systems, and operators composed of them.

mod check_errors;
mod checks;
mod cholesky;
mod determinant;
mod ldl;
mod lu;
mod qr;
mod solve;
mod triangular;

/// The items that the crate re-exports at its root. They need a separate module, because a file may have the name of an operator.
pub(crate) mod operators {
    pub use super::{check_errors::*, cholesky::*, determinant::*, ldl::*, lu::*, qr::*, solve::*, triangular::*};
}
