//! Cholesky decompositions, and the systems that they solve.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Spec};

use super::check_errors::_linalg_check_errors;
use super::checks::{
    batch_sizes, broadcast_batch, check_dtype_like, check_square_matrices, check_system, column_major,
};
use crate::{check_same_device, expand};

/// Returns the lower triangular `L` with `A = L L^H`, or the upper triangular `U` with `A = U^H U`, and the order of the first leading minor
/// that is not positive, or zero. Only that triangle of `A` is read.
#[op_def(
    "linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)",
    plan,
    out = "L"
)]
pub fn linalg_cholesky_ex(_: ...) -> Result<(Tensor, Tensor)>;

#[op_plan(linalg_cholesky_ex)]
fn cholesky_ex_plan(this: &Tensor) -> Result<Plan<(), 2>, BadArgument> {
    check_square_matrices("self", this)?;
    let info = Spec::contiguous(DType::I32, batch_sizes(this.sizes()));
    Ok(Plan::new((), [column_major(this.dtype(), this.sizes()), info]))
}

/// [`linalg_cholesky_ex`], with an error for a matrix that is not positive-definite in place of the code.
#[op_def("linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor", out = "out")]
pub fn linalg_cholesky(this: &Tensor, upper: bool) -> Result<Tensor> {
    let (factor, info) = linalg_cholesky_ex(this, upper, false)?;
    _linalg_check_errors(&info, "linalg_cholesky", this.sizes().len() == 2)?;
    Ok(factor)
}

/// Solves `A X = self` with the factor `input2` of `A` that [`linalg_cholesky`] returned.
#[op_def(
    "cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
    body = CompositeExplicitAutograd,
    out = "out"
)]
pub fn cholesky_solve(this: &Tensor, input2: &Tensor, upper: bool) -> Result<Tensor> {
    check_same_device([("self", this), ("input2", input2)])?;
    let size = check_square_matrices("input2", input2)?;
    check_dtype_like(("self", this), ("input2", input2))?;
    check_system(("self", this), ("input2", size), true)?;
    let sizes = broadcast_batch(("self", this.sizes()), input2.sizes())?;
    let factor_sizes = broadcast_batch(("input2", input2.sizes()), this.sizes())?;
    _cholesky_solve_helper(&expand(this, &sizes, false)?, &expand(input2, &factor_sizes, false)?, upper)
}

/// [`cholesky_solve`] without broadcasting.
#[op_def("_cholesky_solve_helper(Tensor self, Tensor A, bool upper) -> Tensor", plan, out = "out")]
pub fn _cholesky_solve_helper(_: ...) -> Result<Tensor>;

#[op_plan(_cholesky_solve_helper)]
fn cholesky_solve_plan(_: ...) -> Result<Plan<()>, BadArgument> {
    check_same_device([("self", this), ("A", A)])?;
    let size = check_square_matrices("A", A)?;
    check_dtype_like(("self", this), ("A", A))?;
    check_system(("self", this), ("A", size), true)?;
    if batch_sizes(this.sizes()) != batch_sizes(A.sizes()) {
        let expected = format!("the batch dimensions {:?}, as `A` has", batch_sizes(A.sizes()));
        return Err(BadArgument::sizes("self", this.sizes(), expected));
    }
    Ok(Plan::new((), [column_major(this.dtype(), this.sizes())]))
}

/// Returns the inverse of `A` from the factor `self` of `A` that [`linalg_cholesky`] returned.
#[op_def("cholesky_inverse(Tensor self, bool upper=False) -> Tensor", plan, out = "out")]
pub fn cholesky_inverse(_: ...) -> Result<Tensor>;

#[op_plan(cholesky_inverse)]
fn cholesky_inverse_plan(this: &Tensor) -> Result<Plan<()>, BadArgument> {
    check_square_matrices("self", this)?;
    Ok(Plan::new((), [column_major(this.dtype(), this.sizes())]))
}
