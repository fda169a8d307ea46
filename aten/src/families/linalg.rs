//! Decompositions of matrices, linear systems, and operators composed of them.

mod check_errors;
mod checks;
mod cholesky;
mod condition_number;
mod determinant;
mod eigenvalues;
mod ldl;
mod lstsq;
mod lu;
mod matrix_functions;
mod matrix_norms;
mod pseudoinverse;
mod qr;
mod singular_values;
mod solve;
mod tensor_equations;
mod triangular;

/// The items that the crate re-exports at its root. They need a separate module, because a file may have the name of an operator.
pub(crate) mod operators {
    pub use super::{
        check_errors::*, cholesky::*, condition_number::*, determinant::*, eigenvalues::*, ldl::*, lstsq::*, lu::*,
        matrix_functions::*, matrix_norms::*, pseudoinverse::*, qr::*, singular_values::*, solve::*,
        tensor_equations::*, triangular::*,
    };
}
