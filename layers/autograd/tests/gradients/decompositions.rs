//! Tests of gradients of complex decompositions and linear systems: first and second order agree with finite differences.

use aten::prelude::*;
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

use super::spectra::check;

/// Returns a positive-definite matrix.
fn positive(matrix: &Tensor) -> Result<Tensor> {
    let size = matrix.sizes()[matrix.sizes().len() - 1];
    matrix.matmul(&matrix.mH()?)? + Tensor::eye(size, DType::C128)?
}

/// Returns matrices without the pattern of the given ones, whose rank is 2, and without small singular values.
fn regular(matrix: &Tensor) -> Result<Tensor> {
    let [.., rows, columns] = *matrix.sizes() else { unreachable!("it is a matrix") };
    (matrix * 0.5)?.sin()? + (aten::eye_m(rows, columns, Some(DType::C128), None, None, None)? * 2)?
}

/// Returns matrices with other elements, which also vary with the given ones.
fn others(matrix: &Tensor) -> Result<Tensor> {
    (matrix * 3)?.sin()?.mT()
}

/// Returns a triangular matrix without small elements on the diagonal.
fn triangle(matrix: &Tensor, upper: bool) -> Result<Tensor> {
    let size = matrix.sizes()[matrix.sizes().len() - 1];
    let triangle = if upper { matrix.triu(0)? } else { matrix.tril(0)? };
    triangle + (Tensor::eye(size, DType::C128)? * 2)?
}

#[test]
fn cholesky_decompositions_have_gradients() -> Result<()> {
    check("lower factor", |a| aten::linalg_cholesky(&positive(a)?, false), &[2, 3, 3])?;
    check("upper factor", |a| aten::linalg_cholesky(&positive(a)?, true), &[3, 3])?;
    check("system of a lower factor", |a| aten::cholesky_solve(&others(a)?, &triangle(a, false)?, false), &[3, 3])?;
    check("system of an upper factor", |a| aten::cholesky_solve(&others(a)?, &triangle(a, true)?, true), &[3, 3])?;
    check("inverse by a lower factor", |a| aten::cholesky_inverse(&triangle(a, false)?, false), &[2, 3, 3])?;
    check("inverse by an upper factor", |a| aten::cholesky_inverse(&triangle(a, true)?, true), &[3, 3])
}

/// Solves a system by the packed factors of a matrix.
fn solve(a: &Tensor, left: bool, adjoint: bool) -> Result<Tensor> {
    let (factors, pivots, _) = aten::linalg_lu_factor_ex(&positive(a)?, true, false)?;
    aten::linalg_lu_solve(&factors, &pivots, &others(a)?, left, adjoint)
}

#[test]
fn lu_decompositions_have_gradients() -> Result<()> {
    for sizes in [[3, 3], [4, 2], [2, 4]] {
        check("packed factors", |a| Ok(aten::linalg_lu_factor_ex(&regular(a)?, true, false)?.0), &sizes)?;
        check("lower factor", |a| Ok(aten::linalg_lu(&regular(a)?, true)?.1), &sizes)?;
        check("upper factor", |a| Ok(aten::linalg_lu(&regular(a)?, true)?.2), &sizes)?;
    }
    check("system", |a| solve(a, true, false), &[3, 3])?;
    check("adjoint system", |a| solve(a, true, true), &[3, 3])?;
    check("system from the right", |a| solve(a, false, false), &[3, 3])?;
    check("adjoint system from the right", |a| solve(a, false, true), &[3, 3])
}

#[test]
fn linear_systems_have_gradients() -> Result<()> {
    check("system", |a| aten::linalg_solve(&regular(a)?, &others(a)?, true), &[2, 3, 3])?;
    check("system from the right", |a| aten::linalg_solve(&regular(a)?, &others(a)?, false), &[3, 3])?;
    check("system of a vector", |a| aten::linalg_solve(&regular(a)?, &a.select(0, 0)?, true), &[3, 3])?;
    check("inverse", |a| aten::linalg_inv(&regular(a)?), &[2, 3, 3])?;
    check("determinant", |a| aten::linalg_det(&regular(a)?), &[2, 3, 3])?;
    check("sign of the determinant", |a| Ok(aten::linalg_slogdet(&regular(a)?)?.0), &[2, 3, 3])?;
    check("logarithm of the determinant", |a| Ok(aten::linalg_slogdet(&regular(a)?)?.1), &[2, 3, 3])?;
    check(
        "triangular system",
        |a| aten::linalg_solve_triangular(&triangle(a, true)?, &others(a)?, true, true, false),
        &[3, 3],
    )?;
    check(
        "unit triangular system from the right",
        |a| aten::linalg_solve_triangular(a, &others(a)?, false, false, true),
        &[3, 3],
    )?;
    check(
        "transposed triangular system",
        |a| Ok(aten::triangular_solve(&others(a)?, &triangle(a, false)?, false, true, false)?.0),
        &[3, 3],
    )
}

/// Returns the factors of two reflectors.
fn factors(a: &Tensor) -> Result<Tensor> {
    a.select(0, 0)?.narrow(-1, 0, 2)
}

#[test]
fn qr_decompositions_have_gradients() -> Result<()> {
    for sizes in [[3, 3], [4, 2], [2, 4]] {
        check("orthonormal factor", |a| Ok(aten::linalg_qr(&regular(a)?, "reduced")?.0), &sizes)?;
        check("triangular factor", |a| Ok(aten::linalg_qr(&regular(a)?, "reduced")?.1), &sizes)?;
    }
    check("product of reflectors", |a| aten::linalg_householder_product(a, &factors(a)?), &[3, 3])?;
    check("product with reflectors", |a| aten::ormqr(a, &factors(a)?, &others(a)?, true, false), &[3, 3])?;
    check("product from the right", |a| aten::ormqr(a, &factors(a)?, &others(a)?, false, true), &[3, 3])
}

#[test]
fn least_squares_have_gradients() -> Result<()> {
    for sizes in [[3, 3], [4, 2], [2, 4]] {
        check("solution", |a| Ok(aten::linalg_lstsq(&regular(a)?, &a.cos()?, None, Some("gelsd"))?.0), &sizes)?;
    }
    check("residuals", |a| Ok(aten::linalg_lstsq(&regular(a)?, &a.sin()?, None, Some("gels"))?.1), &[4, 2])
}
