//! Decompositions of matrices, linear systems, and operators composed of them.

mod check_errors;
mod eigenvalues;
mod matrices;
mod matrix_functions;
mod matrix_norms;
mod pseudoinverse;
mod singular_values;

/// The items that the crate re-exports at its root. They need a separate module, because a file may have the name of an operator.
pub(crate) mod operators {
    pub use super::{
        check_errors::*, eigenvalues::*, matrix_functions::*, matrix_norms::*, pseudoinverse::*, singular_values::*,
    };
}
