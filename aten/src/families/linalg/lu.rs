//! LU decompositions with partial pivoting, and the systems that they solve.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Spec};

use super::check_errors::_linalg_check_errors;
use super::checks::{
    batch_sizes, broadcast_batch, check_dtype_like, check_matrices, check_pivots, check_pivots_fit,
    check_square_matrices, check_system, column_major, sizes_of_vectors, with_matrix_sizes,
};
use crate::check_same_device;

/// Returns `L` and `U` in one matrix, the 1-based rows that were exchanged with each row in turn, and the 1-based index of the first zero
/// on the diagonal of `U`, or zero. `L` has ones on its diagonal, which are not stored.
#[op_def(
    "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, Tensor info)",
    plan,
    out = "out"
)]
pub fn linalg_lu_factor_ex(_: ...) -> Result<(Tensor, Tensor, Tensor)>;

#[op_plan(linalg_lu_factor_ex)]
fn lu_factor_ex_plan(_: ...) -> Result<Plan<(), 3>, BadArgument> {
    check_matrices("A", A)?;
    check_pivots_fit("A", A)?;
    check_pivoting(pivot)?;
    Ok(Plan::new((), lu_specs(A)))
}

/// Returns the specs of factors, pivots and codes.
pub(super) fn lu_specs(a: &Tensor) -> [Spec; 3] {
    let sizes = a.sizes();
    [
        column_major(a.dtype(), sizes),
        Spec::contiguous(DType::I32, &sizes_of_vectors(sizes)),
        Spec::contiguous(DType::I32, batch_sizes(sizes)),
    ]
}

fn check_pivoting(pivot: bool) -> Result<(), BadArgument> {
    let reason = "a decomposition without pivoting is inaccurate, and no backend has it";
    if pivot { Ok(()) } else { Err(BadArgument::value("pivot", false, "true").because(reason)) }
}

/// [`linalg_lu_factor_ex`], with an error for a singular matrix in place of the code.
#[op_def("linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)", out = "out")]
pub fn linalg_lu_factor(_: ...) -> Result<(Tensor, Tensor)> {
    let (lu, pivots, info) = linalg_lu_factor_ex(A, pivot, false)?;
    _linalg_check_errors(&info, "linalg_lu_factor", A.sizes().len() == 2)?;
    Ok((lu, pivots))
}

/// An older name of [`linalg_lu_factor_ex`].
#[op_def(
    "_lu_with_info(Tensor self, bool pivot=True, bool check_errors=True) -> (Tensor LU, Tensor pivots, Tensor info)"
)]
pub fn _lu_with_info(this: &Tensor, pivot: bool, check_errors: bool) -> Result<(Tensor, Tensor, Tensor)> {
    linalg_lu_factor_ex(this, pivot, check_errors)
}

/// Returns the factors `P`, `L` and `U` of `A = P L U`.
#[op_def("linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)", plan, out = "out")]
pub fn linalg_lu(_: ...) -> Result<(Tensor, Tensor, Tensor)>;

#[op_plan(linalg_lu)]
fn lu_plan(_: ...) -> Result<Plan<(), 3>, BadArgument> {
    check_matrices("A", A)?;
    check_pivots_fit("A", A)?;
    check_pivoting(pivot)?;
    Ok(Plan::new((), factor_specs(A, true, true)))
}

/// Returns the factors `P`, `L` and `U` of a decomposition that [`linalg_lu_factor_ex`] returned. Factors that are not requested are empty.
#[op_def(
    "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)",
    plan,
    out = "out"
)]
pub fn lu_unpack(_: ...) -> Result<(Tensor, Tensor, Tensor)>;

#[op_plan(lu_unpack)]
fn lu_unpack_plan(_: ...) -> Result<Plan<(), 3>, BadArgument> {
    check_same_device([("LU_data", LU_data), ("LU_pivots", LU_pivots)])?;
    check_matrices("LU_data", LU_data)?;
    if unpack_pivots {
        check_pivots(("LU_pivots", LU_pivots), ("LU_data", LU_data))?;
    }
    Ok(Plan::new((), factor_specs(LU_data, unpack_data, unpack_pivots)))
}

/// Returns the specs of `P`, `L` and `U`. Factors that are not requested are empty.
fn factor_specs(lu: &Tensor, data: bool, permutation: bool) -> [Spec; 3] {
    let sizes = lu.sizes();
    let (rows, columns) = (sizes[sizes.len() - 2], sizes[sizes.len() - 1]);
    let size = rows.min(columns);
    [([rows, rows], permutation), ([rows, size], data), ([size, columns], data)].map(|(matrix, is_requested)| {
        let sizes = if is_requested { with_matrix_sizes(sizes, matrix) } else { Dims::from_slice(&[0]) };
        Spec::contiguous(lu.dtype(), &sizes)
    })
}

/// Solves `A X = B`, or `X A = B` if not `left`, with the decomposition of `A` that [`linalg_lu_factor_ex`] returned. If `adjoint`, `A` is
/// replaced by its conjugate transpose.
#[op_def(
    "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
    plan,
    out = "out"
)]
pub fn linalg_lu_solve(_: ...) -> Result<Tensor>;

#[op_plan(linalg_lu_solve)]
fn lu_solve_plan(_: ...) -> Result<Plan<()>, BadArgument> {
    check_same_device([("LU", LU), ("pivots", pivots), ("B", B)])?;
    let size = check_square_matrices("LU", LU)?;
    check_pivots(("pivots", pivots), ("LU", LU))?;
    check_dtype_like(("B", B), ("LU", LU))?;
    check_system(("B", B), ("LU", size), left)?;
    let sizes = broadcast_batch(("B", B.sizes()), LU.sizes())?;
    let spec = if left { column_major(B.dtype(), &sizes) } else { Spec::contiguous(B.dtype(), &sizes) };
    Ok(Plan::new((), [spec]))
}

/// An older form of [`linalg_lu_solve`].
#[op_def("lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor", out = "out")]
pub fn lu_solve(_: ...) -> Result<Tensor> {
    linalg_lu_solve(LU_data, LU_pivots, this, true, false)
}
