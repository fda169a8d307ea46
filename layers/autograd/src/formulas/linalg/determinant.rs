//! Gradient formulas of determinants.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use super::{adjoint, size_from_end};
use crate::complex::conj;
use crate::op_grad;

#[op_grad(aten::_linalg_det, not_differentiable(LU, pivots))]
fn _linalg_det(grad: &Tensor, A: &Tensor, result0: &Tensor) -> Result<Tensor> {
    let is_singular = result0.eq(0)?;
    // Within vmap elements cannot be read, and any matrix may be singular.
    if !is_singular.any()?.item::<bool>().unwrap_or(true) {
        return scaled_inverse_adjoint(A, &(grad * conj(result0)?)?);
    }
    let is_singular = is_singular.unsqueeze(-1)?.unsqueeze(-1)?;
    // Each formula computes with another matrix in place of those that it is not for. Its singular values differ.
    let other = Tensor::arange(1..size_from_end(A, 1) + 1, A.dtype().to_real())?.to(A.device())?.to(A.dtype())?;
    let other = aten::diag_embed(&other, 0, -2, -1)?;
    let (regular, singular) = (aten::where_self(&is_singular, &other, A)?, aten::where_self(&is_singular, A, &other)?);
    let of_regular = scaled_inverse_adjoint(&regular, &(grad * conj(result0)?)?)?;
    aten::where_self(&is_singular, &singular_gradient(&singular, grad)?, &of_regular)
}

/// Returns the gradient of a determinant from the singular values: it is the adjoint of the adjugate.
fn singular_gradient(a: &Tensor, grad: &Tensor) -> Result<Tensor> {
    let (u, values, v_adjoint) = aten::_linalg_svd(a, false, true, None)?;
    // The product of all singular values but one, for each of them.
    let size = size_from_end(a, 1);
    let is_own = aten::eye(size, Some(DType::Bool), None, Some(a.device()), None)?;
    let others = values.unsqueeze(-2)?.expand([values.sizes(), &[size]].concat())?.masked_fill(&is_own, 1)?;
    let others = others.prod_dims(-1)?.to(a.dtype())?;
    let phase = conj(&(aten::linalg_det(&u)? * aten::linalg_det(&v_adjoint)?)?)?;
    let scaled = (u * (others * (grad * phase)?.unsqueeze(-1)?)?.unsqueeze(-2)?)?;
    scaled.matmul(&v_adjoint)
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
        aten::complex(&imaginary.zeros_like()?, &(-&imaginary)?)
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
    let factor = factor.to(a.dtype())?.unsqueeze(-1)?.expand([factor.sizes(), &[size]].concat())?;
    Ok(aten::linalg_solve_ex(&adjoint(a)?, &aten::diag_embed(&factor, 0, -2, -1)?, true, false)?.0)
}
