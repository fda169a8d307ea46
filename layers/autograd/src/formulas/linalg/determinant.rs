//! Gradient formulas of determinants.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use super::{adjoint, size_from_end};
use crate::complex::conj;
use crate::op_grad;

#[op_grad(aten::_linalg_det, not_differentiable(LU, pivots))]
fn _linalg_det(grad: &Tensor, A: &Tensor, result0: &Tensor) -> Result<Tensor> {
    // The gradient of a singular matrix is zero, as that of PyTorch.
    let is_singular = result0.eq_scalar(0)?.unsqueeze(-1)?.unsqueeze(-1)?;
    let size = size_from_end(A, 1);
    let identity = aten::eye(size, Some(A.dtype()), None, Some(A.device()), None)?;
    scaled_inverse_adjoint(&aten::where_self(&is_singular, &identity, A)?, &(grad * conj(result0)?)?)
}

#[op_grad(aten::_linalg_slogdet, not_differentiable(LU, pivots))]
fn _linalg_slogdet(
    grad0: Option<&Tensor>,
    grad1: Option<&Tensor>,
    A: &Tensor,
    result0: &Tensor,
) -> Result<Option<Tensor>> {
    // The sign of a real determinant is constant. That of a complex one has the derivative i Im(tr(A^-1 dA)) times itself.
    let of_sign = grad0.filter(|_| A.dtype().is_complex()).map(|grad| {
        let imaginary = aten::imag(&(conj(grad)? * result0)?)?;
        aten::complex(&imaginary.zeros_like()?, &imaginary.neg()?)
    });
    let factor = match (grad1, of_sign.transpose()?) {
        (Some(grad), Some(of_sign)) => (&of_sign + grad)?,
        (Some(grad), None) => grad.clone(),
        (None, Some(of_sign)) => of_sign,
        (None, None) => return Ok(None),
    };
    scaled_inverse_adjoint(A, &factor).map(Some)
}

/// Returns the adjoint of the inverse of each matrix, times a factor for each.
fn scaled_inverse_adjoint(a: &Tensor, factor: &Tensor) -> Result<Tensor> {
    let size = size_from_end(a, 1);
    let factor = factor.to(a.dtype())?.unsqueeze(-1)?.expand(&[factor.sizes(), &[size]].concat())?;
    Ok(aten::linalg_solve_ex(&adjoint(a)?, &aten::diag_embed(&factor, 0, -2, -1)?, true, false)?.0)
}
