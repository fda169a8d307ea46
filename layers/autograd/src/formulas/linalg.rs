//! Gradient formulas of decompositions and linear systems.
//!
//! `gX` in a comment is the gradient of `X`, and `^H` the conjugate transpose.

mod cholesky;
mod determinant;
mod eigenvalues;
mod lstsq;
mod lu;
mod matrix_functions;
mod pseudoinverse;
mod qr;
mod singular_values;
mod solve;
mod triangular;

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::complex::conj;
use crate::{GradientError, not_differentiable};

not_differentiable!(aten::_compute_linear_combination, aten::_linalg_check_errors);

/// Returns the conjugate transpose of matrices.
fn adjoint(matrix: &Tensor) -> Result<Tensor> {
    conj(&matrix.transpose(-2, -1)?)
}

/// Solves `a x = b` for a triangular matrix.
fn solve_left(a: &Tensor, b: &Tensor, upper: bool) -> Result<Tensor> {
    aten::linalg_solve_triangular(a, b, upper, true, false)
}

/// Solves `x a = b` for a triangular matrix.
fn solve_right(a: &Tensor, b: &Tensor, upper: bool) -> Result<Tensor> {
    aten::linalg_solve_triangular(a, b, upper, false, false)
}

/// Returns the size of a dimension that is counted from the last one.
fn size_from_end(tensor: &Tensor, from_end: usize) -> i64 {
    tensor.sizes()[tensor.sizes().len() - from_end]
}

/// Returns a matrix with another diagonal.
fn with_diagonal(matrix: &Tensor, diagonal: &Tensor) -> Result<Tensor> {
    let dtype = matrix.dtype();
    let diagonal = if diagonal.dtype() == dtype { diagonal.clone() } else { diagonal.to(dtype)? };
    aten::diagonal_scatter(matrix, &diagonal, 0, -2, -1)
}

/// Returns an error if a function depends on the phases of vectors, which are arbitrary. `phases` has the derivatives along the vectors: their
/// imaginary parts are those of the phases. Without a backend that reads elements, as within vmap, there is no check.
fn check_phase_independence(operator: &'static str, phases: &Tensor) -> Result<()> {
    if !phases.dtype().is_complex() {
        return Ok(());
    }
    let depends = || phases.detach()?.imag()?.abs()?.gt(0.01)?.any()?.item::<bool>();
    if depends().unwrap_or(false) {
        return Err(GradientError::DependsOnPhase { operator: operator.to_owned() }.into());
    }
    Ok(())
}
