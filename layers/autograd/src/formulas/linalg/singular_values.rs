//! Gradient formulas of singular values and singular vectors.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use super::{adjoint, check_phase_independence, with_diagonal};
use crate::op_grad;

#[op_grad(aten::_linalg_svd)]
fn _linalg_svd(
    grad0: Option<&Tensor>,
    grad1: Option<&Tensor>,
    grad2: Option<&Tensor>,
    result0: &Tensor,
    result1: &Tensor,
    result2: &Tensor,
    _: ...
) -> Result<Option<Tensor>> {
    if !compute_uv {
        let (left, values, right) = aten::_linalg_svd(A, false, true, None)?;
        return SingularVectors { left, values, right }.gradient([None, grad1, None]);
    }
    // Singular vectors without a singular value are not unique, and have no gradient.
    let count = result1.sizes().last().copied().unwrap_or(0);
    let columns = |matrix: &Tensor| matrix.narrow(-1, 0, count);
    let rows = |matrix: &Tensor| matrix.narrow(-2, 0, count);
    let vectors = SingularVectors { left: columns(result0)?, values: result1.clone(), right: rows(result2)? };
    let (left_grad, right_grad) = (grad0.map(columns).transpose()?, grad2.map(rows).transpose()?);
    vectors.gradient([left_grad.as_ref(), grad1, right_grad.as_ref()])
}

/// The singular values of a matrix, with left singular vectors as columns and conjugates of right ones as rows.
struct SingularVectors {
    left: Tensor,
    values: Tensor,
    right: Tensor,
}

impl SingularVectors {
    /// Returns the gradient of the matrix for the gradients of `left`, `values` and `right`.
    fn gradient(&self, [left_grad, values_grad, right_grad]: [Option<&Tensor>; 3]) -> Result<Option<Tensor>> {
        let Self { left, values, right } = self;
        if left_grad.is_none() && right_grad.is_none() {
            let scaled = |grad: &Tensor| left.matmul(&(grad.unsqueeze(-1)? * right)?);
            return values_grad.map(scaled).transpose();
        }
        // The parts of the gradients that turn singular vectors into each other.
        let left_turn = left_grad.map(|grad| skew(&adjoint(left)?.matmul(grad)?)).transpose()?;
        let right_turn = right_grad.map(|grad| skew(&right.matmul(&adjoint(grad)?)?)).transpose()?;
        let phase = |turn: &Option<Tensor>| turn.as_ref().map(|turn| aten::diagonal(turn, 0, -2, -1)).transpose();
        let phases = [phase(&left_turn)?, phase(&right_turn)?];
        if let Some(sum) = sum(phases[0].clone(), phases[1].clone())? {
            check_phase_independence("_linalg_svd", &(sum * 0.5)?)?;
        }
        let (row, column) = (values.unsqueeze(-2)?, values.unsqueeze(-1)?);
        let differences = ((&row - &column)? * (&row + &column)?)?;
        let differences = with_diagonal(&differences, &values.ones_like()?)?;
        let of_left = left_turn.map(|turn| turn * &row).transpose()?;
        let of_right = right_turn.map(|turn| &column * turn).transpose()?;
        let Some(turns) = sum(of_left, of_right)? else { return Ok(None) };
        let inner = (turns / differences)?;
        // The phases of a pair of vectors change together. Their difference is a change of the matrix.
        let phase = match &phases[0] {
            Some(phase) if phase.dtype().is_complex() && phases[1].is_some() => Some((phase / (values * 2.0)?)?),
            _ => None,
        };
        let diagonal = match sum(values_grad.cloned(), phase)? {
            Some(diagonal) => diagonal,
            None => values.zeros_like()?,
        };
        let inner = with_diagonal(&inner, &diagonal)?;
        let mut gradient = left.matmul(&inner)?.matmul(right)?;
        let (rows, columns) = (left.sizes()[left.sizes().len() - 2], right.sizes()[right.sizes().len() - 1]);
        let count = values.sizes().last().copied().unwrap_or(0);
        if let Some(grad) = left_grad.filter(|_| rows > count) {
            let scaled = (grad / &row)?;
            let outside = (&scaled - left.matmul(&adjoint(left)?.matmul(&scaled)?)?)?;
            gradient = (gradient + outside.matmul(right)?)?;
        }
        if let Some(grad) = right_grad.filter(|_| columns > count) {
            let scaled = (grad / &column)?;
            let outside = (&scaled - scaled.matmul(&adjoint(right)?)?.matmul(right)?)?;
            gradient = (gradient + left.matmul(&outside)?)?;
        }
        Ok(Some(gradient))
    }
}

/// Returns the difference of a matrix and its adjoint.
fn skew(matrix: &Tensor) -> Result<Tensor> {
    matrix - adjoint(matrix)?
}

fn sum(one: Option<Tensor>, other: Option<Tensor>) -> Result<Option<Tensor>> {
    match (one, other) {
        (Some(one), Some(other)) => Ok(Some((one + other)?)),
        (one, other) => Ok(one.or(other)),
    }
}
