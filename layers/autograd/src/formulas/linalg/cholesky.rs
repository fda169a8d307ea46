//! Gradient formulas of Cholesky decompositions, and of the systems that they solve.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use super::{adjoint, solve_left, solve_right};
use crate::{Gradient, op_grad};

#[op_grad(aten::linalg_cholesky_ex, not_differentiable(info))]
fn linalg_cholesky_ex(grad: &Tensor, upper: bool, result0: &Tensor) -> Result<Tensor> {
    let (factor, grad) = if upper { (adjoint(result0)?, adjoint(grad)?) } else { (result0.clone(), grad.clone()) };
    // gA = L^-H S L^-1 / 2, and S is Hermitian with the lower triangle of L^H gL.
    let adjoint_factor = adjoint(&factor)?;
    let product = adjoint_factor.matmul(&grad)?;
    let symmetric = (product.tril(0)? + adjoint(&product.tril(-1)?)?)?;
    let half = (symmetric * 0.5)?;
    solve_right(&factor, &solve_left(&adjoint_factor, &half, true)?, false)
}

#[op_grad(aten::cholesky_solve)]
fn cholesky_solve(grad: &Tensor, result: &Tensor, _: ...) -> (impl Gradient, impl Gradient) {
    (
        move || aten::cholesky_solve(grad, input2, upper),
        move || {
            let of_matrix = (-(aten::cholesky_solve(grad, input2, upper)?.matmul(&adjoint(result)?)?))?;
            factor_gradient(&of_matrix, input2, upper)
        },
    )
}

#[op_grad(aten::cholesky_inverse)]
fn cholesky_inverse(grad: &Tensor, this: &Tensor, upper: bool, result: &Tensor) -> Result<Tensor> {
    let inverse = adjoint(result)?;
    factor_gradient(&(-inverse.matmul(grad)?.matmul(&inverse)?)?, this, upper)
}

/// Returns the gradient of a factor of `A = L L^H`, or of `A = U^H U`, from the gradient of `A`.
fn factor_gradient(of_matrix: &Tensor, factor: &Tensor, upper: bool) -> Result<Tensor> {
    let symmetric = (of_matrix + adjoint(of_matrix)?)?;
    if upper { factor.matmul(&symmetric) } else { symmetric.matmul(factor) }
}
