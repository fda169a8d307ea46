//! LDL decompositions of symmetric and Hermitian matrices, and the systems that they solve.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Spec};

use super::check_errors::_linalg_check_errors;
use super::checks::{
    batch_sizes, broadcast_batch, check_dtype_like, check_pivots, check_pivots_fit, check_square_matrices,
    check_system, column_major, sizes_of_vectors,
};
use crate::check_same_device;

/// Returns `L` and `D` of `A = L D L^T`, or of `A = L D L^H` if `hermitian`, in one matrix, where `D` has blocks of size 1 and 2; LAPACK's
/// pivots, which are negative for a block of size 2; and the 1-based index of the first block of zeros, or zero. Only the lower triangle of
/// `A` is read.
#[op_def(
    "linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, Tensor pivots, Tensor info)",
    plan,
    out = "out"
)]
pub fn linalg_ldl_factor_ex(_: ...) -> Result<(Tensor, Tensor, Tensor)>;

#[op_plan(linalg_ldl_factor_ex)]
fn ldl_factor_ex_plan(this: &Tensor) -> Result<Plan<(), 3>, BadArgument> {
    check_square_matrices("self", this)?;
    check_pivots_fit("self", this)?;
    let sizes = this.sizes();
    let pivots = Spec::contiguous(DType::I32, &sizes_of_vectors(sizes));
    let info = Spec::contiguous(DType::I32, batch_sizes(sizes));
    Ok(Plan::new((), [column_major(this.dtype(), sizes), pivots, info]))
}

/// [`linalg_ldl_factor_ex`], with an error for a singular matrix in place of the code.
#[op_def("linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)", out = "out")]
pub fn linalg_ldl_factor(this: &Tensor, hermitian: bool) -> Result<(Tensor, Tensor)> {
    let (factors, pivots, info) = linalg_ldl_factor_ex(this, hermitian, false)?;
    _linalg_check_errors(&info, "linalg_ldl_factor", this.sizes().len() == 2)?;
    Ok((factors, pivots))
}

/// Solves `A X = B` with the decomposition of `A` that [`linalg_ldl_factor_ex`] returned.
#[op_def("linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor", plan, out = "out")]
pub fn linalg_ldl_solve(_: ...) -> Result<Tensor>;

#[op_plan(linalg_ldl_solve)]
fn ldl_solve_plan(_: ...) -> Result<Plan<()>, BadArgument> {
    check_same_device([("LD", LD), ("pivots", pivots), ("B", B)])?;
    let size = check_square_matrices("LD", LD)?;
    check_pivots(("pivots", pivots), ("LD", LD))?;
    check_dtype_like(("B", B), ("LD", LD))?;
    check_system(("B", B), ("LD", size), true)?;
    Ok(Plan::new((), [column_major(B.dtype(), &broadcast_batch(("B", B.sizes()), LD.sizes())?)]))
}
