//! Gradient formulas of linear systems and inverses.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use super::adjoint;
use crate::{Gradient, op_grad};

#[op_grad(aten::linalg_inv_ex, not_differentiable(info))]
fn linalg_inv_ex(grad: &Tensor, result0: &Tensor) -> Result<Tensor> {
    let inverse = adjoint(result0)?;
    aten::neg(&inverse.matmul(grad)?.matmul(&inverse)?)
}

#[op_grad(aten::_linalg_solve_ex, not_differentiable(LU, pivots, info))]
fn _linalg_solve_ex(grad: &Tensor, result0: &Tensor, _: ...) -> (impl Gradient, impl Gradient) {
    // gB = A^-H gX, and gA = -gB X^H.
    let of_b = move || {
        // The system that was solved has a right-hand side of this rank, so a batch of vectors is recognised again.
        let is_vector = result0.sizes().len() < A.sizes().len();
        let columns = if is_vector { grad.unsqueeze(-1)? } else { grad.clone() };
        Ok::<_, Error>((aten::linalg_solve_ex(&adjoint(A)?, &columns, left, false)?.0, is_vector))
    };
    (
        move || {
            let (of_b, is_vector) = of_b()?;
            let solution = adjoint(&if is_vector { result0.unsqueeze(-1)? } else { result0.clone() })?;
            if left { -of_b.matmul(&solution)? } else { -solution.matmul(&of_b)? }
        },
        move || {
            let (of_b, is_vector) = of_b()?;
            if is_vector { of_b.squeeze_dims(-1) } else { Ok(of_b) }
        },
    )
}
