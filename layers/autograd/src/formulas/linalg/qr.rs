//! Gradient formulas of QR decompositions, and of products with their reflectors.

use aten::prelude::*;
use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

use super::{adjoint, size_from_end, solve_right};
use crate::complex::{conj, real};
use crate::{Gradient, op_grad};

#[op_grad(aten::linalg_qr)]
fn linalg_qr(
    grad0: Option<&Tensor>,
    grad1: Option<&Tensor>,
    result0: &Tensor,
    result1: &Tensor,
    _: ...
) -> Result<Option<Tensor>> {
    let (rows, columns) = (size_from_end(A, 2), size_from_end(A, 1));
    if mode == "r" || mode == "complete" && rows > columns {
        let reason = "the columns of `Q` that complete the basis, or a `Q` that is not computed, have no derivative";
        return Err(BadArgument::value("mode", format!("{mode:?}"), "`reduced` for a gradient").because(reason).into());
    }
    let (q, r) = (result0, result1);
    if grad0.is_none() && grad1.is_none() {
        return Ok(None);
    }
    if rows >= columns {
        return square_gradient(q, r, grad0, grad1).map(Some);
    }
    // R = [U V] and A = [X Y] with X = Q U and Y = Q V.
    let (u, of_u) = (r.narrow(-1, 0, rows)?, grad1.map(|grad| grad.narrow(-1, 0, rows)).transpose()?);
    let (y, of_v) =
        (A.narrow(-1, rows, columns - rows)?, grad1.map(|grad| grad.narrow(-1, rows, columns - rows)).transpose()?);
    let Some(of_v) = of_v else {
        let of_x = square_gradient(q, &u, grad0, None)?;
        return aten::constant_pad_nd(&of_x, &[0, columns - rows], Scalar::Int(0)).map(Some);
    };
    let through_v = y.matmul(&adjoint(&of_v)?)?;
    let of_q = grad0.map_or_else(|| Ok(through_v.clone()), |grad| grad + &through_v)?;
    let of_x = square_gradient(q, &u, Some(&of_q), of_u.as_ref())?;
    aten::cat(&[of_x, q.matmul(&of_v)?], -1).map(Some)
}

/// Returns the gradient of `A = Q R` with a square `R`.
fn square_gradient(q: &Tensor, r: &Tensor, of_q: Option<&Tensor>, of_r: Option<&Tensor>) -> Result<Tensor> {
    // gA = (gQ + Q S) R^-H, and S is Hermitian with the upper triangle of gR R^H - Q^H gQ.
    let r_adjoint = adjoint(r)?;
    let through_r = of_r.map(|grad| grad.matmul(&r_adjoint)).transpose()?;
    let through_q = of_q.map(|grad| adjoint(q)?.matmul(grad)).transpose()?;
    let difference = match (through_r, through_q) {
        (Some(r), Some(q)) => (r - q)?,
        (Some(r), None) => r,
        (None, Some(q)) => (-&q)?,
        (None, None) => r.zeros_like()?,
    };
    let strict = difference.triu(1)?;
    let diagonal = real(&aten::diagonal(&difference, 0, -2, -1)?)?.to(q.dtype())?;
    let symmetric = ((&strict + adjoint(&strict)?)? + aten::diag_embed(&diagonal, 0, -2, -1)?)?;
    let product = q.matmul(&symmetric)?;
    let sum = of_q.map_or_else(|| Ok(product.clone()), |grad| grad + &product)?;
    solve_right(&r_adjoint, &sum, false)
}

#[op_grad(aten::linalg_householder_product)]
fn linalg_householder_product(grad: &Tensor, _: ...) -> Result<(Tensor, Tensor)> {
    let (rows, columns) = (size_from_end(input, 2), size_from_end(input, 1));
    let identity = aten::eye_m(rows, columns, Some(input.dtype()), None, Some(input.device()), None)?;
    Reflectors { input, tau }.gradients(&identity.expand_as(input)?, grad, false)
}

#[op_grad(aten::ormqr)]
fn ormqr(grad: &Tensor, _: ...) -> (impl Gradient, impl Gradient, impl Gradient) {
    let of_reflectors = move || {
        let reflectors = Reflectors { input: this, tau: input2 };
        if left {
            reflectors.gradients(input3, grad, transpose)
        } else {
            // `C Q` is the adjoint of `Q^H C^H`.
            reflectors.gradients(&adjoint(input3)?, &adjoint(grad)?, !transpose)
        }
    };
    (
        move || Ok(of_reflectors()?.0),
        move || Ok(of_reflectors()?.1),
        move || aten::ormqr(this, input2, grad, left, !transpose),
    )
}

/// The reflectors of a QR decomposition: `I - tau v v^H`, with `v` below the diagonal and an implied one on it.
struct Reflectors<'a> {
    input: &'a Tensor,
    tau: &'a Tensor,
}

impl Reflectors<'_> {
    /// Returns the gradients of the vectors and the factors, if the product of the reflectors, or its adjoint, is applied to `matrix`.
    fn gradients(&self, matrix: &Tensor, grad: &Tensor, is_adjoint: bool) -> Result<(Tensor, Tensor)> {
        let count = size_from_end(self.tau, 1);
        let (rows, columns) = (size_from_end(self.input, 2), size_from_end(self.input, 1));
        if count == 0 {
            return Ok((self.input.zeros_like()?, self.tau.zeros_like()?));
        }
        let factors = if is_adjoint { conj(self.tau)? } else { self.tau.clone() };
        let ones = aten::eye_m(rows, columns, Some(self.input.dtype()), None, Some(self.input.device()), None)?;
        let vectors = (self.input.tril(-1)? + ones)?;
        let reflector = |index: i64| -> Result<(Tensor, Tensor)> {
            Ok((vectors.narrow(-1, index, 1)?, factors.narrow(-1, index, 1)?.unsqueeze(-1)?))
        };
        // The order in which the reflectors are applied.
        let order: Vec<i64> = if is_adjoint { (0..count).collect() } else { (0..count).rev().collect() };
        let mut operands = Vec::new();
        let mut current = matrix.clone();
        for &index in &order {
            operands.push(current.clone());
            let (v, factor) = reflector(index)?;
            current = (&current - (v.matmul(&adjoint(&v)?.matmul(&current)?)? * factor)?)?;
        }
        let mut of_result = grad.clone();
        let mut of_reflectors = Vec::new();
        for (&index, operand) in order.iter().zip(&operands).rev() {
            let (v, factor) = reflector(index)?;
            let (v_adjoint, of_adjoint) = (adjoint(&v)?, adjoint(&of_result)?);
            let row = v_adjoint.matmul(operand)?;
            // Of `X - t v (v^H X)`, with w = v^H X: gt = -v^H G w^H, and gv = -conj(t) G w^H - t X G^H v.
            let through_row = of_result.matmul(&adjoint(&row)?)?;
            let of_factor = (-v_adjoint.matmul(&through_row)?)?.squeeze_dims(-1)?;
            let first = (&through_row * conj(&factor)?)?;
            let second = (operand.matmul(&of_adjoint.matmul(&v)?)? * &factor)?;
            of_reflectors.push((index, (-(first + second)?)?, if is_adjoint { conj(&of_factor)? } else { of_factor }));
            of_result = (&of_result - (v.matmul(&v_adjoint.matmul(&of_result)?)? * conj(&factor)?)?)?;
        }
        of_reflectors.sort_by_key(|(index, ..)| *index);
        let (of_vectors, of_factors): (Vec<_>, Vec<_>) =
            of_reflectors.into_iter().map(|(_, vector, factor)| (vector, factor)).unzip();
        let of_vectors = aten::cat(&of_vectors, -1)?.tril(-1)?;
        let of_vectors = aten::constant_pad_nd(&of_vectors, &[0, columns - count], Scalar::Int(0))?;
        Ok((of_vectors, aten::cat(&of_factors, -1)?))
    }
}
