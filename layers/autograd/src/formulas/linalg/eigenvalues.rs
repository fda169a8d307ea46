//! Gradient formulas of eigenvalues and eigenvectors.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use super::{adjoint, check_phase_independence, with_diagonal};
use crate::complex::real;
use crate::{TensorOutline, op_grad};

#[op_grad(aten::_linalg_eigh)]
fn _linalg_eigh(
    grad0: Option<&Tensor>,
    grad1: Option<&Tensor>,
    result0: &Tensor,
    result1: &Tensor,
    _: ...
) -> Result<Option<Tensor>> {
    if !compute_v {
        let (values, vectors) = aten::_linalg_eigh(A, UPLO, true)?;
        return hermitian_gradient([grad0, None], &values, &vectors);
    }
    hermitian_gradient([grad0, grad1], result0, result1)
}

/// Returns the gradient of a Hermitian matrix for the gradients of its eigenvalues and eigenvectors.
fn hermitian_gradient(
    [values_grad, vectors_grad]: [Option<&Tensor>; 2],
    values: &Tensor,
    vectors: &Tensor,
) -> Result<Option<Tensor>> {
    let rotate = |columns: &Tensor| columns.matmul(&adjoint(vectors)?).map(Some);
    let Some(vectors_grad) = vectors_grad else {
        return values_grad.map_or(Ok(None), |grad| rotate(&(vectors * grad.unsqueeze(-2)?)?));
    };
    let projected = adjoint(vectors)?.matmul(vectors_grad)?;
    check_phase_independence("_linalg_eigh", &aten::diagonal(&projected, 0, -2, -1)?)?;
    let differences = (values.unsqueeze(-2)? - values.unsqueeze(-1)?)?;
    let inner = (projected / with_diagonal(&differences, &values.ones_like()?)?)?;
    let diagonal = values_grad.map_or_else(|| values.zeros_like(), |grad| Ok(grad.clone()))?;
    rotate(&vectors.matmul(&with_diagonal(&inner, &diagonal)?)?)
}

#[op_grad(aten::linalg_eig)]
fn linalg_eig(
    grad0: Option<&Tensor>,
    grad1: Option<&Tensor>,
    result0: &Tensor,
    result1: &Tensor,
    this: &TensorOutline,
) -> Result<Option<Tensor>> {
    let gradient = general_gradient([grad0, grad1], result0, result1)?;
    gradient.map(|gradient| if this.dtype().is_complex() { Ok(gradient) } else { real(&gradient) }).transpose()
}

/// The gradient needs eigenvectors, which come in another order with their own eigenvalues. Each of these eigenvalues gets the gradient of
/// the nearest one of the result.
#[op_grad(aten::_linalg_eigvals)]
fn _linalg_eigvals(grad: &Tensor, this: &Tensor, result: &Tensor) -> Result<Option<Tensor>> {
    let (values, vectors) = aten::linalg_eig(this)?;
    let distances = (values.unsqueeze(-1)? - result.unsqueeze(-2)?)?.abs()?;
    let nearest = aten::detach(&distances)?.argmin_dim(-1)?;
    let gradient = general_gradient([Some(&grad.gather(-1, &nearest)?), None], &values, &vectors)?;
    gradient.map(|gradient| if this.dtype().is_complex() { Ok(gradient) } else { real(&gradient) }).transpose()
}

/// Returns the gradient of a matrix for the gradients of its eigenvalues, and of its eigenvectors of norm 1.
fn general_gradient(
    [values_grad, vectors_grad]: [Option<&Tensor>; 2],
    values: &Tensor,
    vectors: &Tensor,
) -> Result<Option<Tensor>> {
    let adjoint_vectors = adjoint(vectors)?;
    // The result is `V^-H inner V^H` for the eigenvectors `V`.
    let transform = |columns: &Tensor| aten::linalg_solve(&adjoint_vectors, columns, true).map(Some);
    let Some(vectors_grad) = vectors_grad else {
        return values_grad.map_or(Ok(None), |grad| transform(&(grad.unsqueeze(-1)? * &adjoint_vectors)?));
    };
    let projected = adjoint_vectors.matmul(vectors_grad)?;
    let diagonal = aten::diagonal(&projected, 0, -2, -1)?;
    check_phase_independence("linalg_eig", &diagonal)?;
    // A change in the direction of an eigenvector is removed by its normalisation.
    let along = adjoint_vectors.matmul(&(vectors * real(&diagonal)?.unsqueeze(-2)?)?)?;
    let differences = crate::complex::conj(&(values.unsqueeze(-2)? - values.unsqueeze(-1)?)?)?;
    let inner = ((projected - along)? / with_diagonal(&differences, &values.ones_like()?)?)?;
    let of_values = values_grad.map_or_else(|| values.zeros_like(), |grad| Ok(grad.clone()))?;
    transform(&with_diagonal(&inner, &of_values)?.matmul(&adjoint_vectors)?)
}
