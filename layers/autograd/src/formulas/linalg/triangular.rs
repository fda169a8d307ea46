//! Gradient formulas of triangular systems.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use super::adjoint;
use crate::complex::conj;
use crate::{Gradient, op_grad};

#[op_grad(aten::linalg_solve_triangular)]
fn linalg_solve_triangular(grad: &Tensor, result: &Tensor, _: ...) -> (impl Gradient, impl Gradient) {
    // gB = A^-H gX, and gA is the triangle of -gB X^H.
    let of_b = move || aten::linalg_solve_triangular(&adjoint(this)?, grad, !upper, left, unitriangular);
    (
        move || {
            let (of_b, solution) = (of_b()?, adjoint(result)?);
            let product = if left { of_b.matmul(&solution)? } else { solution.matmul(&of_b)? };
            triangle(&(-&product)?, upper, unitriangular)
        },
        of_b,
    )
}

#[op_grad(aten::triangular_solve)]
fn triangular_solve(
    grad0: Option<&Tensor>,
    grad1: Option<&Tensor>,
    result0: &Tensor,
    _: ...
) -> Result<(Option<Tensor>, Option<Tensor>)> {
    let Some(grad) = grad0 else { return Ok((None, grad1.cloned())) };
    let of_b = aten::triangular_solve(grad, &conj(A)?, upper, !transpose, unitriangular)?.0;
    let product =
        if transpose { conj(result0)?.matmul(&of_b.transpose(-2, -1)?)? } else { of_b.matmul(&adjoint(result0)?)? };
    let of_a = triangle(&(-&product)?, upper, unitriangular)?;
    let of_a = grad1.map_or_else(|| Ok(of_a.clone()), |grad| &of_a + grad)?;
    Ok((Some(of_b), Some(of_a)))
}

/// Returns the elements of a triangle, without the diagonal if that has only ones.
fn triangle(matrix: &Tensor, upper: bool, unitriangular: bool) -> Result<Tensor> {
    let first = i64::from(unitriangular);
    if upper { matrix.triu(first) } else { matrix.tril(-first) }
}
