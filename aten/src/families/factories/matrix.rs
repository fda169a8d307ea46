//! The identity matrix, and the indices of the elements of a triangle of a matrix.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Spec};

/// The matrix of `n` rows and `m` columns with ones along its diagonal.
#[op_def(
    "eye.m(SymInt n, SymInt m, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    plan,
    float8,
    out = "m_out"
)]
pub fn eye_m(_: ...) -> Result<Tensor>;

#[op_plan(eye_m)]
fn eye_plan(n: i64, m: i64, dtype: Option<DType>) -> Result<Plan<()>, BadArgument> {
    for (argument, size) in [("n", n), ("m", m)] {
        if size < 0 {
            return Err(BadArgument::number(argument, size, 0..));
        }
    }
    Ok(Plan::new((), [Spec::contiguous(dtype.unwrap_or(DType::F32), &[n, m])]))
}

/// The identity matrix of `n` rows and columns.
#[op_def(
    "eye(SymInt n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn eye(_: ...) -> Result<Tensor> {
    eye_m(n, n, dtype, layout, device, pin_memory)
}

/// The row and column indices of the elements in the lower triangle of a matrix.
#[op_def(
    "tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    plan,
    out = "out"
)]
pub fn tril_indices(_: ...) -> Result<Tensor>;

#[op_plan(tril_indices)]
fn tril_indices_plan(row: i64, col: i64, offset: i64, dtype: Option<DType>) -> Result<Plan<()>, BadArgument> {
    triangle_indices_plan(row, col, offset, true, dtype)
}

/// The row and column indices of the elements in the upper triangle of a matrix.
#[op_def(
    "triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    plan,
    out = "out"
)]
pub fn triu_indices(_: ...) -> Result<Tensor>;

#[op_plan(triu_indices)]
fn triu_indices_plan(row: i64, col: i64, offset: i64, dtype: Option<DType>) -> Result<Plan<()>, BadArgument> {
    triangle_indices_plan(row, col, offset, false, dtype)
}

/// Returns the plan of [`tril_indices`] (if `lower`) and [`triu_indices`].
fn triangle_indices_plan(
    row: i64,
    col: i64,
    offset: i64,
    lower: bool,
    dtype: Option<DType>,
) -> Result<Plan<()>, BadArgument> {
    for (argument, size) in [("row", row), ("col", col)] {
        if size < 0 {
            return Err(BadArgument::number(argument, size, 0..));
        }
    }
    let below = count_at_or_below_diagonal(row.into(), col.into(), i128::from(offset) - i128::from(!lower));
    let count = if lower { below } else { i128::from(row) * i128::from(col) - below };
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    Ok(Plan::new((), [Spec::contiguous(dtype.unwrap_or(DType::I64), &[2, count])]))
}

/// Counts the elements of a matrix at or below the diagonal that is `offset` to the right. Row `r` has `r + offset + 1` of them, clamped to
/// `0..=col`.
fn count_at_or_below_diagonal(row: i128, col: i128, offset: i128) -> i128 {
    let first = (-offset).clamp(0, row);
    let full = (col - offset - 1).clamp(first, row);
    let rising = full - first;
    rising * (first + offset + 1) + rising * (rising - 1) / 2 + (row - full) * if full < row { col } else { 0 }
}
