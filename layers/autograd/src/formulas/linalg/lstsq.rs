//! The gradient formula of least squares.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use super::adjoint;
use crate::op_grad;

#[op_grad(aten::linalg_lstsq, not_differentiable(rank, singular_values))]
fn linalg_lstsq(
    grad0: Option<&Tensor>,
    grad1: Option<&Tensor>,
    result0: &Tensor,
    _: ...
) -> Result<(Option<Tensor>, Option<Tensor>)> {
    let is_vector = b.sizes().len() < this.sizes().len();
    let as_matrix = |tensor: &Tensor| if is_vector { tensor.unsqueeze(-1) } else { Ok(tensor.clone()) };
    let (solution, b) = (as_matrix(result0)?, as_matrix(b)?);
    let (mut of_matrix, mut of_b) = (None, None);
    if let Some(grad) = grad0 {
        // X = P B with the pseudoinverse P of A.
        let (grad, inverse) = (as_matrix(grad)?, aten::linalg_pinv_atol_rtol_float(this, None, None, false)?);
        of_b = Some(adjoint(&inverse)?.matmul(&grad)?);
        of_matrix = Some(through_pseudoinverse(this, &inverse, &grad.matmul(&adjoint(&b)?)?)?);
    }
    if let Some(grad) = grad1.filter(|grad| grad.sizes() != [0]) {
        // The residual is the least squared distance, so it does not change with X.
        let scaled = ((this.matmul(&solution)? - &b)? * (grad.unsqueeze(-2)? * 2)?)?;
        let through_matrix = scaled.matmul(&adjoint(&solution)?)?;
        of_matrix = Some(of_matrix.map_or_else(|| Ok(through_matrix.clone()), |sum| sum + &through_matrix)?);
        of_b = Some(of_b.map_or_else(|| -&scaled, |sum| sum - &scaled)?);
    }
    let of_b = of_b.map(|grad| if is_vector { grad.squeeze_dims(-1) } else { Ok(grad) }).transpose()?;
    Ok((of_matrix, of_b))
}

/// Returns the gradient of a matrix from that of its pseudoinverse.
fn through_pseudoinverse(matrix: &Tensor, inverse: &Tensor, grad: &Tensor) -> Result<Tensor> {
    // gA = -P^H gP P^H + (I - A P) gP^H P P^H + P^H P gP^H (I - P A).
    let (inverse_adjoint, grad_adjoint) = (adjoint(inverse)?, adjoint(grad)?);
    let first = inverse_adjoint.matmul(grad)?.matmul(&inverse_adjoint)?;
    let right = grad_adjoint.matmul(inverse)?.matmul(&inverse_adjoint)?;
    let right = (&right - matrix.matmul(&inverse.matmul(&right)?)?)?;
    let left = inverse_adjoint.matmul(inverse)?.matmul(&grad_adjoint)?;
    let left = (&left - left.matmul(inverse)?.matmul(matrix)?)?;
    (right + left)? - first
}
