//! Least squares.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Spec};

use super::checks::{broadcast_batch, check_dtype_like, check_matrices, check_system, column_major};
use super::qr::{geqrf, ormqr};
use super::triangular::linalg_solve_triangular;
use crate::{
    abs, check_same_device, constant_pad_nd, copy_, expand, full, gt, matmul, mul, mul_scalar, narrow, reciprocal,
    square, squeeze_dim, sub, sum_dim_intlist, unsqueeze, where_self,
};

/// The names of LAPACK's algorithms.
const DRIVERS: [&str; 4] = ["gels", "gelsy", "gelsd", "gelss"];

/// Returns the `X` with the least `|self X - b|`, and of several the least one; the squares of these distances if `self` has more rows than
/// columns and full rank; the ranks; and the singular values. The driver `gels` assumes full rank and computes no rank, `gelsy` computes no
/// distances, and only `gelsd` and `gelss` return singular values. Those below `rcond` times the largest count as zero.
#[op_def(
    "linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)",
    body = CompositeExplicitAutograd,
    out = "out"
)]
pub fn linalg_lstsq(_: ...) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
    let driver = driver.unwrap_or("gelsy");
    if !DRIVERS.contains(&driver) {
        return Err(BadArgument::keyword("driver", driver, &DRIVERS).into());
    }
    check_same_device([("self", this), ("b", b)])?;
    let [rows, columns] = check_matrices("self", this)?;
    check_dtype_like(("b", b), ("self", this))?;
    let is_vector = b.sizes().len() + 1 == this.sizes().len();
    if !is_vector && b.sizes().len() != this.sizes().len() {
        let rank = this.sizes().len();
        return Err(BadArgument::rank("b", b.sizes().len(), rank - 1..=rank).like("self").into());
    }
    let b = if is_vector { unsqueeze(b, -1)? } else { b.clone() };
    check_system(("b", &b), ("self", rows), true)?;
    let sizes = broadcast_batch(("b", b.sizes()), this.sizes())?;
    let matrix = expand(this, &broadcast_batch(("self", this.sizes()), b.sizes())?, false)?;
    let b = expand(&b, &sizes, false)?;

    let empty = |dtype| Spec::contiguous(dtype, &[0]).on(this.device());
    let real = this.dtype().to_real();
    let result = if driver == "gels" {
        solve_full_rank(&matrix, &b)?
    } else {
        let cutoff = rcond.unwrap_or_else(|| relative_precision(real) * to_f64(rows.max(columns)));
        solve_any_rank(&matrix, &b, cutoff)?
    };
    let residuals = match &result.residuals {
        Some(residuals) if driver != "gelsy" && rows > columns => residuals.clone(),
        _ => empty(real)?,
    };
    let rank = result.rank.map_or_else(|| empty(DType::I64), Ok)?;
    let is_requested = matches!(driver, "gelsd" | "gelss");
    let values = result.singular_values.filter(|_| is_requested).map_or_else(|| empty(real), Ok)?;

    // The solution is a part of the memory that held `b`.
    let mut sizes = sizes;
    let at = sizes.len() - 2;
    sizes[at] = rows.max(columns);
    let memory = column_major(this.dtype(), &sizes).on(this.device())?;
    let mut solution = narrow(&memory, -2, 0, columns)?;
    copy_(&mut solution, &result.solution, false)?;
    Ok((if is_vector { squeeze_dim(&solution, -1)? } else { solution }, residuals, rank, values))
}

/// The results of an algorithm, without those that it does not compute.
struct LeastSquares {
    solution: Tensor,
    residuals: Option<Tensor>,
    rank: Option<Tensor>,
    singular_values: Option<Tensor>,
}

/// Solves a system of full rank by a QR decomposition of the matrix, or of its adjoint.
fn solve_full_rank(matrix: &Tensor, b: &Tensor) -> Result<LeastSquares> {
    let [.., rows, columns] = *matrix.sizes() else { unreachable!("it is a batch of matrices") };
    if rows >= columns {
        let (factors, tau) = geqrf(matrix)?;
        let rotated = ormqr(&factors, &tau, b, true, true)?;
        let triangle = narrow(&factors, -2, 0, columns)?;
        let solution = linalg_solve_triangular(&triangle, &narrow(&rotated, -2, 0, columns)?, true, true, false)?;
        let residuals = sum_of_squares(&narrow(&rotated, -2, columns, rows - columns)?)?;
        return Ok(LeastSquares { solution, residuals: Some(residuals), rank: None, singular_values: None });
    }
    let (factors, tau) = geqrf(&adjoint(matrix)?)?;
    let triangle = adjoint(&narrow(&factors, -2, 0, rows)?)?;
    let part = linalg_solve_triangular(&triangle, b, false, true, false)?;
    let padded = constant_pad_nd(&part, &[0, 0, 0, columns - rows], Scalar::Int(0))?;
    let solution = ormqr(&factors, &tau, &padded, true, false)?;
    Ok(LeastSquares { solution, residuals: None, rank: None, singular_values: None })
}

/// Solves a system by the singular values of the matrix.
fn solve_any_rank(matrix: &Tensor, b: &Tensor, cutoff: f64) -> Result<LeastSquares> {
    let (u, values, v_adjoint) = crate::_linalg_svd(matrix, false, true, None)?;
    let count = values.sizes().last().copied().unwrap_or(0);
    let largest = narrow(&values, -1, 0, count.min(1))?;
    let is_kept = gt(&values, &mul_scalar(&largest, Scalar::Float(cutoff))?)?;
    let zero = full(&[], Scalar::Int(0), Some(values.dtype()), None, Some(values.device()), None)?;
    let inverse = unsqueeze(&where_self(&is_kept, &reciprocal(&values)?, &zero)?, -1)?;
    let coordinates = mul(&matmul(&adjoint(&u)?, b)?, &inverse)?;
    let solution = matmul(&adjoint(&v_adjoint)?, &coordinates)?;
    let rank = sum_dim_intlist(&is_kept, Some(&[-1]), false, Some(DType::I64))?;
    let [.., rows, columns] = *matrix.sizes() else { unreachable!("it is a batch of matrices") };
    let has_full_rank = rows > columns && rank.to_vec::<i64>()?.iter().all(|&rank| rank == columns);
    let residuals =
        if has_full_rank { Some(sum_of_squares(&sub(&matmul(matrix, &solution)?, b, Scalar::Int(1))?)?) } else { None };
    Ok(LeastSquares { solution, residuals, rank: Some(rank), singular_values: Some(values) })
}

/// Returns the sum of the squared absolute values of each column.
fn sum_of_squares(matrix: &Tensor) -> Result<Tensor> {
    sum_dim_intlist(&square(&abs(matrix)?)?, Some(&[-2]), false, None)
}

fn adjoint(matrix: &Tensor) -> Result<Tensor> {
    let transposed = crate::transpose_int(matrix, -2, -1)?;
    if matrix.dtype().is_complex() { crate::conj_physical(&transposed) } else { Ok(transposed) }
}

fn relative_precision(dtype: DType) -> f64 {
    if dtype == DType::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON }
}

#[expect(clippy::cast_precision_loss, reason = "a tolerance is rounded")]
fn to_f64(size: i64) -> f64 {
    size as f64
}
