//! Gradient formulas of decompositions and linear systems.
//!
//! `gX` in a comment is the gradient of `X`, and `^H` the conjugate transpose.

mod cholesky;
mod determinant;
mod lu;
mod qr;
mod solve;
mod triangular;

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::complex::conj;
use crate::not_differentiable;

not_differentiable!(aten::_linalg_check_errors);

/// Returns the conjugate transpose of matrices.
fn adjoint(matrix: &Tensor) -> Result<Tensor> {
    conj(&matrix.transpose_int(-2, -1)?)
}

/// Solves `a x = b` for a triangular matrix.
fn solve_left(a: &Tensor, b: &Tensor, upper: bool) -> Result<Tensor> {
    aten::linalg_solve_triangular(a, b, upper, true, false)
}

/// Solves `x a = b` for a triangular matrix.
fn solve_right(a: &Tensor, b: &Tensor, upper: bool) -> Result<Tensor> {
    aten::linalg_solve_triangular(a, b, upper, false, false)
}

/// Returns the size of a dimension that is counted from the last one.
fn size_from_end(tensor: &Tensor, from_end: usize) -> i64 {
    tensor.sizes()[tensor.sizes().len() - from_end]
}
