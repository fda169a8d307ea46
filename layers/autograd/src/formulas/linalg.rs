//! Gradient formulas of decompositions and linear systems.

mod eigenvalues;
mod matrix_functions;
mod pseudoinverse;
mod singular_values;

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::complex::conj;
use crate::{GradientError, not_differentiable};

not_differentiable!(aten::_compute_linear_combination, aten::_linalg_check_errors);

/// Returns the conjugate transpose of a matrix.
fn adjoint(matrix: &Tensor) -> Result<Tensor> {
    conj(&matrix.transpose_int(-2, -1)?)
}

/// Returns a matrix with another diagonal.
fn with_diagonal(matrix: &Tensor, diagonal: &Tensor) -> Result<Tensor> {
    let dtype = matrix.dtype();
    let diagonal = if diagonal.dtype() == dtype { diagonal.clone() } else { diagonal.to(dtype)? };
    matrix.diagonal_scatter(&diagonal, 0, -2, -1)
}

/// Returns an error if a function depends on the phases of vectors, which are arbitrary. `phases` has the derivatives along the vectors: their
/// imaginary parts are those of the phases. Without a backend that reads elements, as within vmap, there is no check.
fn check_phase_independence(operator: &'static str, phases: &Tensor) -> Result<()> {
    if !phases.dtype().is_complex() {
        return Ok(());
    }
    let depends = || phases.detach()?.imag()?.abs()?.gt_scalar(0.01)?.any()?.item::<bool>();
    if depends().unwrap_or(false) {
        return Err(GradientError::DependsOnPhase { operator: operator.to_owned() }.into());
    }
    Ok(())
}
