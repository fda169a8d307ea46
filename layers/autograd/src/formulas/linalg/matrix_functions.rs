//! Gradient formulas of functions of matrices, and of the polar decomposition.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use super::adjoint;
use crate::op_grad;

derivatives! {
    linalg_matrix_exp(grad, this) => aten::matrix_exp_backward(this, grad);
    linalg_matrix_sqrth(grad; result: &Tensor) => {
        let (roots, vectors) = aten::_linalg_eigh(result, "L", true)?;
        let symmetric = ((grad + adjoint(grad)?)? * 0.5)?;
        divided_by_sums(&symmetric, &roots, &vectors)
    };
}

#[op_grad(aten::linalg_polar)]
fn linalg_polar(
    grad0: Option<&Tensor>,
    grad1: Option<&Tensor>,
    result0: &Tensor,
    result1: &Tensor,
) -> Result<Option<Tensor>> {
    let (orthogonal, positive) = (result0, result1);
    let along = grad0.map(|grad| adjoint(orthogonal)?.matmul(grad)).transpose()?;
    let scaled = grad1.map(|grad| grad.matmul(positive)).transpose()?;
    let turn = match (&along, scaled) {
        (Some(along), Some(scaled)) => (along - scaled)?,
        (Some(along), None) => along.clone(),
        (None, Some(scaled)) => (-&scaled)?,
        (None, None) => return Ok(None),
    };
    let (values, vectors) = aten::_linalg_eigh(positive, "L", true)?;
    let turn = divided_by_sums(&turn, &values, &vectors)?;
    let mut inner = (&turn - adjoint(&turn)?)?;
    if let Some(grad) = grad1 {
        inner = (inner + grad)?;
    }
    let mut gradient = orthogonal.matmul(&inner)?;
    let [.., rows, columns] = *orthogonal.sizes() else { return Ok(None) };
    if let (Some(grad), Some(along)) = (grad0.filter(|_| rows > columns), along) {
        let outside = (grad - orthogonal.matmul(&along)?)?;
        let inverse = (&vectors / values.unsqueeze(-2)?)?.matmul(&adjoint(&vectors)?)?;
        gradient = (gradient + outside.matmul(&inverse)?)?;
    }
    Ok(Some(gradient))
}

/// Divides the elements of a matrix, in the basis of eigenvectors, by the sums of the eigenvalues of their row and column.
fn divided_by_sums(matrix: &Tensor, values: &Tensor, vectors: &Tensor) -> Result<Tensor> {
    let sums = (values.unsqueeze(-2)? + values.unsqueeze(-1)?)?;
    let adjoint_vectors = adjoint(vectors)?;
    let inner = (adjoint_vectors.matmul(&matrix.matmul(vectors)?)? / sums)?;
    vectors.matmul(&inner.matmul(&adjoint_vectors)?)
}
