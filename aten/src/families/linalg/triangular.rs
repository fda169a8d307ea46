//! Systems of triangular matrices.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Spec};

use super::checks::{broadcast_batch, check_dtype_like, check_square_matrices, check_system, column_major};
use crate::check_same_device;

/// Solves `self X = B`, or `X self = B` if not `left`, for a triangular matrix. The elements of its other triangle are not read, nor those
/// of its diagonal if `unitriangular`.
#[op_def(
    "linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> Tensor",
    plan,
    out = "out"
)]
pub fn linalg_solve_triangular(_: ...) -> Result<Tensor>;

#[op_plan(linalg_solve_triangular)]
fn solve_triangular_plan(_: ...) -> Result<Plan<()>, BadArgument> {
    Ok(Plan::new((), [solution_spec(("self", this), ("B", B), left)?]))
}

/// Solves `A X = self` for a triangular matrix, which `transpose` replaces by its transpose. Also returns a copy of `A`.
#[op_def(
    "triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
    plan,
    out = "X"(X, M)
)]
pub fn triangular_solve(_: ...) -> Result<(Tensor, Tensor)>;

#[op_plan(triangular_solve)]
fn older_triangular_solve_plan(_: ...) -> Result<Plan<(), 2>, BadArgument> {
    let solution = solution_spec(("A", A), ("self", this), true)?;
    let sizes = broadcast_batch(("A", A.sizes()), this.sizes())?;
    Ok(Plan::new((), [solution, column_major(A.dtype(), &sizes)]))
}

/// Checks a system, and returns the spec of its solution.
fn solution_spec(
    (name, a): (&'static str, &Tensor),
    (right_name, b): (&'static str, &Tensor),
    left: bool,
) -> Result<Spec, BadArgument> {
    check_same_device([(name, a), (right_name, b)])?;
    let size = check_square_matrices(name, a)?;
    check_dtype_like((right_name, b), (name, a))?;
    check_system((right_name, b), (name, size), left)?;
    Ok(column_major(b.dtype(), &broadcast_batch((right_name, b.sizes()), a.sizes())?))
}
