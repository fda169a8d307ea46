//! Linear systems and inverses.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Spec};

use super::check_errors::_linalg_check_errors;
use super::checks::{
    batch_sizes, broadcast_batch, check_dtype_like, check_pivots_fit, check_square_matrices, check_system, column_major,
};
use super::lu::lu_specs;
use crate::check_same_device;

/// Solves `A X = B`, or `X A = B` if not `left`. Also returns the LU decomposition of `A` and the code of
/// [`linalg_lu_factor_ex`](crate::linalg_lu_factor_ex).
#[op_def(
    "_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor LU, Tensor pivots, Tensor info)",
    plan,
    out = "result"
)]
pub fn _linalg_solve_ex(_: ...) -> Result<(Tensor, Tensor, Tensor, Tensor)>;

/// The plan of a linear system.
#[derive(Clone, Copy, Debug)]
pub struct SolvePlan {
    /// `B` has a vector for each matrix of `A`, and not a matrix.
    pub is_vector: bool,
}

#[op_plan(_linalg_solve_ex)]
fn solve_ex_plan(_: ...) -> Result<Plan<SolvePlan, 4>, BadArgument> {
    check_same_device([("A", A), ("B", B)])?;
    let size = check_square_matrices("A", A)?;
    check_pivots_fit("A", A)?;
    check_dtype_like(("B", B), ("A", A))?;
    let is_vector = is_batch_of_vectors(A, B);
    let mut columns = Dims::from_slice(B.sizes());
    if is_vector {
        if !left {
            let reason = "a row vector has no solution from the right";
            return Err(BadArgument::value("left", false, "true if `B` has a vector for each matrix").because(reason));
        }
        columns.push(1);
        if B.sizes().last() != Some(&size) {
            return Err(BadArgument::size("B", B.sizes(), B.sizes().len() - 1, size).like("A"));
        }
    } else {
        check_system(("B", B), ("A", size), left)?;
    }
    let mut sizes = broadcast_batch(("B", &columns), A.sizes())?;
    if is_vector {
        sizes.pop();
    }
    let result = if left { column_major(A.dtype(), &sizes) } else { Spec::contiguous(A.dtype(), &sizes) };
    let [lu, pivots, info] = lu_specs(A);
    Ok(Plan::new(SolvePlan { is_vector }, [result, lu, pivots, info]))
}

/// Returns whether the right-hand side of a system has a vector, and not a matrix, for each matrix.
fn is_batch_of_vectors(a: &Tensor, b: &Tensor) -> bool {
    b.sizes().len() == 1 || *b.sizes() == a.sizes()[..a.sizes().len() - 1]
}

/// Solves `A X = B`, or `X A = B` if not `left`, and returns the solution and the code of
/// [`linalg_lu_factor_ex`](crate::linalg_lu_factor_ex).
#[op_def(
    "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor info)",
    out = "out"
)]
pub fn linalg_solve_ex(_: ...) -> Result<(Tensor, Tensor)> {
    let (result, _, _, info) = _linalg_solve_ex(A, B, left, check_errors)?;
    Ok((result, info))
}

/// Solves `A X = B`, or `X A = B` if not `left`. A singular matrix is an error.
#[op_def("linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor", out = "out")]
pub fn linalg_solve(_: ...) -> Result<Tensor> {
    let (result, _, _, info) = _linalg_solve_ex(A, B, left, false)?;
    _linalg_check_errors(&info, "linalg_solve", A.sizes().len() == 2)?;
    Ok(result)
}

/// Returns the inverse of a matrix, and the code of [`linalg_lu_factor_ex`](crate::linalg_lu_factor_ex).
#[op_def("linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)", plan, out = "inverse")]
pub fn linalg_inv_ex(_: ...) -> Result<(Tensor, Tensor)>;

#[op_plan(linalg_inv_ex)]
fn inv_ex_plan(_: ...) -> Result<Plan<(), 2>, BadArgument> {
    check_square_matrices("A", A)?;
    check_pivots_fit("A", A)?;
    let info = Spec::contiguous(DType::I32, batch_sizes(A.sizes()));
    Ok(Plan::new((), [column_major(A.dtype(), A.sizes()), info]))
}

/// Returns the inverse of a matrix. A singular matrix is an error.
#[op_def("linalg_inv(Tensor A) -> Tensor", out = "out")]
pub fn linalg_inv(_: ...) -> Result<Tensor> {
    let (result, info) = linalg_inv_ex(A, false)?;
    _linalg_check_errors(&info, "linalg_inv", A.sizes().len() == 2)?;
    Ok(result)
}

/// Another name of [`linalg_inv`].
#[op_def("inverse(Tensor self) -> Tensor", out = "out", calls = linalg_inv)]
pub fn inverse(_: ...) -> Result<Tensor>;
