//! Gradient formulas of LU decompositions, and of the systems that they solve.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use super::{adjoint, size_from_end, solve_right};
use crate::{Gradient, TensorOutline, op_grad};

#[op_grad(aten::linalg_lu_factor_ex, not_differentiable(pivots, info))]
fn linalg_lu_factor_ex(grad: &Tensor, result0: &Tensor, result1: &Tensor, pivot: bool) -> Result<Tensor> {
    let size = size_from_end(grad, 1).min(size_from_end(grad, 2));
    let (p, l, u) = aten::lu_unpack(result0, result1, true, pivot)?;
    matrix_gradient(&p, &l, &u, Some(&grad.narrow(-1, 0, size)?), Some(&grad.narrow(-2, 0, size)?))
}

#[op_grad(aten::linalg_lu, not_differentiable(P))]
fn linalg_lu(
    grad1: Option<&Tensor>,
    grad2: Option<&Tensor>,
    result0: &Tensor,
    result1: &Tensor,
    result2: &Tensor,
) -> Result<Tensor> {
    matrix_gradient(result0, result1, result2, grad1, grad2)
}

/// Returns the gradient of `A` from those of the factors of `A = P L U`.
fn matrix_gradient(p: &Tensor, l: &Tensor, u: &Tensor, of_l: Option<&Tensor>, of_u: Option<&Tensor>) -> Result<Tensor> {
    let or_zeros =
        |gradient: Option<&Tensor>, like: &Tensor| gradient.map_or_else(|| like.zeros_like(), |it| Ok(it.clone()));
    let (of_l, of_u) = (or_zeros(of_l, l)?, or_zeros(of_u, u)?);
    let (rows, columns) = (size_from_end(l, 2), size_from_end(u, 1));
    let size = rows.min(columns);
    // Of a wide matrix, the columns to the right are L^-1 P^T A, and of a tall one, the rows below are A U^-1.
    let (top, left) = (l.narrow(-2, 0, size)?, u.narrow(-1, 0, size)?);
    let (top_adjoint, left_adjoint) = (adjoint(&top)?, adjoint(&left)?);
    let mut lower = top_adjoint.matmul(&of_l.narrow(-2, 0, size)?)?;
    let mut upper = of_u.narrow(-1, 0, size)?.matmul(&left_adjoint)?;
    if columns > size {
        let (u, of_u) = (u.narrow(-1, size, columns - size)?, of_u.narrow(-1, size, columns - size)?);
        lower = (lower - of_u.matmul(&adjoint(&u)?)?)?;
    } else if rows > size {
        let (l, of_l) = (l.narrow(-2, size, rows - size)?, of_l.narrow(-2, size, rows - size)?);
        upper = (upper - adjoint(&l)?.matmul(&of_l)?)?;
    }
    let square = (lower.tril(-1)? + upper.triu(0)?)?;
    let square = aten::linalg_solve_triangular(&top_adjoint, &square, true, true, true)?;
    let square = solve_right(&left_adjoint, &square, false)?;
    let gradient = if columns > size {
        let of_others = of_u.narrow(-1, size, columns - size)?;
        let others = aten::linalg_solve_triangular(&top_adjoint, &of_others, true, true, true)?;
        aten::cat(&[square, others], -1)?
    } else if rows > size {
        let others = solve_right(&left_adjoint, &of_l.narrow(-2, size, rows - size)?, false)?;
        aten::cat(&[square, others], -2)?
    } else {
        square
    };
    p.matmul(&gradient)
}

#[op_grad(aten::lu_unpack, not_differentiable(LU_pivots, P))]
fn lu_unpack(grad1: Option<&Tensor>, grad2: Option<&Tensor>, LU_data: &TensorOutline) -> Result<Option<Tensor>> {
    let [.., rows, columns] = LU_data.sizes() else { return Ok(None) };
    let padded = |gradient: &Tensor| {
        aten::constant_pad_nd(
            gradient,
            &[0, columns - size_from_end(gradient, 1), 0, rows - size_from_end(gradient, 2)],
            Scalar::Int(0),
        )
    };
    // A factor that was not requested is empty.
    let [grad1, grad2] = [grad1, grad2].map(|grad| grad.filter(|grad| grad.sizes() != [0]));
    let lower = grad1.map(|grad| padded(&grad.tril(-1)?)).transpose()?;
    let upper = grad2.map(|grad| padded(&grad.triu(0)?)).transpose()?;
    match (lower, upper) {
        (Some(lower), Some(upper)) => Ok(Some((lower + upper)?)),
        (lower, upper) => Ok(lower.or(upper)),
    }
}

#[op_grad(aten::linalg_lu_solve, not_differentiable(pivots))]
fn linalg_lu_solve(grad: &Tensor, result: &Tensor, _: ...) -> (impl Gradient, impl Gradient) {
    let of_b = move || aten::linalg_lu_solve(LU, pivots, grad, left, !adjoint);
    (
        move || {
            // With M = A, or M = A^H if `adjoint`: gM = -gB X^H, or gM = -X^H gB from the right.
            let (of_b, solution) = (of_b()?, super::adjoint(result)?);
            let product = if left { of_b.matmul(&solution)? } else { solution.matmul(&of_b)? };
            let product = (-product)?;
            let of_matrix = if adjoint { super::adjoint(&product)? } else { product };
            // gL and gU are the triangles of P^T gA U^H and L^H P^T gA.
            let (p, l, u) = aten::lu_unpack(LU, pivots, true, true)?;
            let permuted = p.transpose(-2, -1)?.matmul(&of_matrix)?;
            let lower = permuted.matmul(&super::adjoint(&u)?)?.tril(-1)?;
            lower + super::adjoint(&l)?.matmul(&permuted)?.triu(0)?
        },
        of_b,
    )
}
