//! Determinants.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Spec};

use super::checks::{batch_sizes, check_pivots_fit, check_square_matrices};
use super::lu::lu_specs;
use crate::{add, eq_scalar, full_like, log, where_self};

/// Returns the determinant of a matrix, and the LU decomposition of the matrix, or of its transpose if it is real and contiguous.
#[op_def("_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)", plan, out = "result")]
pub fn _linalg_det(_: ...) -> Result<(Tensor, Tensor, Tensor)>;

#[op_plan(_linalg_det)]
fn det_plan(_: ...) -> Result<Plan<(), 3>, BadArgument> {
    check_square_matrices("A", A)?;
    check_pivots_fit("A", A)?;
    let [lu, pivots, _] = lu_specs(A);
    Ok(Plan::new((), [Spec::contiguous(A.dtype(), batch_sizes(A.sizes())), lu, pivots]))
}

/// Returns the determinant of a matrix.
#[op_def("linalg_det(Tensor A) -> Tensor", out = "out")]
pub fn linalg_det(_: ...) -> Result<Tensor> {
    Ok(_linalg_det(A)?.0)
}

/// Another name of [`linalg_det`].
#[op_def("det(Tensor self) -> Tensor")]
pub fn det(this: &Tensor) -> Result<Tensor> {
    linalg_det(this)
}

/// Returns the sign of the determinant, the logarithm of its absolute value, and the LU decomposition of the matrix, or of its transpose if
/// it is real and contiguous. The sign of a complex determinant has the absolute value 1, or is zero.
#[op_def("_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)", plan, out = "sign")]
pub fn _linalg_slogdet(_: ...) -> Result<(Tensor, Tensor, Tensor, Tensor)>;

#[op_plan(_linalg_slogdet)]
fn slogdet_plan(_: ...) -> Result<Plan<(), 4>, BadArgument> {
    check_square_matrices("A", A)?;
    check_pivots_fit("A", A)?;
    let batch = batch_sizes(A.sizes());
    let [lu, pivots, _] = lu_specs(A);
    let sign = Spec::contiguous(A.dtype(), batch);
    let logarithm = Spec::contiguous(A.dtype().to_real(), batch);
    Ok(Plan::new((), [sign, logarithm, lu, pivots]))
}

/// Returns the sign of the determinant, and the logarithm of its absolute value.
#[op_def("linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)", out = "out")]
pub fn linalg_slogdet(_: ...) -> Result<(Tensor, Tensor)> {
    let (sign, logarithm, ..) = _linalg_slogdet(A)?;
    Ok((sign, logarithm))
}

/// Another name of [`linalg_slogdet`].
#[op_def("slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)", out = "out")]
pub fn slogdet(this: &Tensor) -> Result<(Tensor, Tensor)> {
    linalg_slogdet(this)
}

/// Returns the logarithm of the determinant; NaN if that is negative.
#[op_def("logdet(Tensor self) -> Tensor")]
pub fn logdet(this: &Tensor) -> Result<Tensor> {
    let (sign, logarithm) = linalg_slogdet(this)?;
    if sign.dtype().is_complex() {
        return add(&log(&sign)?, &logarithm, Scalar::Int(1));
    }
    let nan = full_like(&logarithm, Scalar::Float(f64::NAN), None, None, None, None, None)?;
    where_self(&eq_scalar(&sign, Scalar::Int(-1))?, &nan, &logarithm)
}
