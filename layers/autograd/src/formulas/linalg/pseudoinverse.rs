//! Gradient formula of pseudoinverses.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use super::adjoint;

derivatives! {
    linalg_pinv_atol_rtol_tensor(grad, this; result: &Tensor), not_differentiable(atol, rtol) => pseudoinverse_gradient(grad, this, result);
}

/// Returns the gradient of matrices `A` for the gradients `G` of their pseudoinverses `P`. The rank is a constant:
/// `-P^H G P^H + (1 - A P) G^H P P^H + P^H P G^H (1 - P A)`.
fn pseudoinverse_gradient(grad: &Tensor, matrix: &Tensor, inverse: &Tensor) -> Result<Tensor> {
    let (inverse_adjoint, grad_adjoint) = (adjoint(inverse)?, adjoint(grad)?);
    let through_inverse = inverse_adjoint.matmul(&grad.matmul(&inverse_adjoint)?)?;
    let of_columns = grad_adjoint.matmul(&inverse.matmul(&inverse_adjoint)?)?;
    let of_rows = inverse_adjoint.matmul(&inverse.matmul(&grad_adjoint)?)?;
    let outside_columns = (&of_columns - matrix.matmul(&inverse.matmul(&of_columns)?)?)?;
    let outside_rows = (&of_rows - of_rows.matmul(inverse)?.matmul(matrix)?)?;
    (outside_columns + outside_rows)? - through_inverse
}
