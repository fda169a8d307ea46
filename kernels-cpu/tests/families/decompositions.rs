//! Tests of decompositions and linear systems: small and large matrices, whose kernels differ, and matrices that are singular or not finite.

use aten::DecompositionFailed;
use aten::prelude::*;
use dispatch_runtime::prelude::*;

const DTYPES: [DType; 4] = [DType::F32, DType::F64, DType::C64, DType::C128];
const SIZES: [i64; 7] = [1, 2, 7, 17, 40, 70, 150];

/// Returns numbers between -1 and 1 without a pattern.
fn numbers(sizes: &[i64], dtype: DType) -> Result<Tensor> {
    let wave = |frequency: f64| {
        let count: i64 = sizes.iter().product();
        (Tensor::arange(1..count + 1, DType::F64)?.square()? * frequency)?.cos()?.reshape(sizes)
    };
    if dtype.is_complex() { aten::complex(&wave(0.37)?, &wave(0.73)?)?.to(dtype) } else { wave(0.37)?.to(dtype) }
}

fn identity(size: i64, dtype: DType) -> Result<Tensor> {
    Tensor::eye(size, dtype)
}

/// Returns matrices of this size with eigenvalues far from zero.
fn regular(size: i64, dtype: DType) -> Result<Tensor> {
    numbers(&[2, size, size], dtype)? + (identity(size, dtype)? * size)?
}

/// Asserts that two tensors differ by rounding errors only.
fn assert_close(name: &str, found: &Tensor, expected: &Tensor) -> Result<()> {
    let largest = |tensor: &Tensor| tensor.abs()?.max()?.to(DType::F64)?.item::<f64>();
    let precision = if matches!(found.dtype(), DType::F32 | DType::C64) { 1e-4 } else { 1e-11 };
    let (difference, size) = (largest(&(found - expected)?)?, largest(expected)?.max(1.0));
    assert!(
        difference <= precision * size,
        "{name} of {:?} {:?}: {difference} of {size}",
        found.dtype(),
        found.sizes()
    );
    Ok(())
}

fn for_each_kind(check: impl Fn(i64, DType) -> Result<()>) -> Result<()> {
    for dtype in DTYPES {
        SIZES.into_iter().try_for_each(|size| check(size, dtype))?;
    }
    Ok(())
}

#[test]
fn cholesky_factors_multiply_to_the_matrix() -> Result<()> {
    for_each_kind(|size, dtype| {
        let matrix = regular(size, dtype)?;
        let matrix = matrix.matmul(&matrix.mH()?)?;
        let b = numbers(&[2, size, 3], dtype)?;
        for upper in [false, true] {
            let factor = aten::linalg_cholesky(&matrix, upper)?;
            let product = if upper { factor.mH()?.matmul(&factor)? } else { factor.matmul(&factor.mH()?)? };
            assert_close("the product", &product, &matrix)?;
            let x = aten::cholesky_solve(&b, &factor, upper)?;
            assert_close("the system", &matrix.matmul(&x)?, &b)?;
            let inverse = aten::cholesky_inverse(&factor, upper)?;
            assert_close("the inverse", &matrix.matmul(&inverse)?, &identity(size, dtype)?.expand_as(&matrix)?)?;
        }
        Ok(())
    })
}

#[test]
fn lu_factors_multiply_to_the_matrix() -> Result<()> {
    for_each_kind(|size, dtype| {
        for sizes in [[2, size, size], [2, size, size + 20], [2, size + 20, size]] {
            let matrix = numbers(&sizes, dtype)?;
            let (p, l, u) = aten::linalg_lu(&matrix, true)?;
            assert_close("the product", &p.matmul(&l)?.matmul(&u)?, &matrix)?;
            assert!(l.abs()?.max()?.to(DType::F64)?.item::<f64>()? < 1.5, "pivots are largest elements");
        }
        Ok(())
    })
}

#[test]
fn solutions_solve_their_systems() -> Result<()> {
    for_each_kind(|size, dtype| {
        let (matrix, b) = (regular(size, dtype)?, numbers(&[2, size, 70], dtype)?);
        for matrix in [matrix.clone(), matrix.mT()?] {
            assert_close("the system", &matrix.matmul(&aten::linalg_solve(&matrix, &b, true)?)?, &b)?;
            let row = b.mT()?;
            assert_close(
                "the system from the right",
                &aten::linalg_solve(&matrix, &row, false)?.matmul(&matrix)?,
                &row,
            )?;
            let vector = b.select(-1, 0)?;
            let x = aten::linalg_solve(&matrix, &vector, true)?;
            assert_close("the vector", &matrix.matmul(&x.unsqueeze(-1)?)?.squeeze_dims(-1)?, &vector)?;
            let inverse = aten::linalg_inv(&matrix)?;
            assert_close("the inverse", &matrix.matmul(&inverse)?, &identity(size, dtype)?.expand_as(&matrix)?)?;
            let (factors, pivots, _) = aten::linalg_lu_factor_ex(&matrix, true, false)?;
            let x = aten::linalg_lu_solve(&factors, &pivots, &b, true, true)?;
            assert_close("the adjoint system", &matrix.mH()?.matmul(&x)?, &b)?;
            let x = aten::linalg_lu_solve(&factors, &pivots, &row, false, true)?;
            assert_close("the adjoint system from the right", &x.matmul(&matrix.mH()?)?, &row)?;
            for upper in [false, true] {
                let triangle = if upper { matrix.triu(0)? } else { matrix.tril(0)? };
                let x = aten::linalg_solve_triangular(&matrix, &b, upper, true, false)?;
                assert_close("the triangular system", &triangle.matmul(&x)?, &b)?;
                let x = aten::linalg_solve_triangular(&matrix, &row, upper, false, false)?;
                assert_close("the triangular system from the right", &x.matmul(&triangle)?, &row)?;
                let x = aten::triangular_solve(&b, &matrix, upper, true, false)?.0;
                assert_close("the transposed triangular system", &triangle.mT()?.matmul(&x)?, &b)?;
            }
        }
        Ok(())
    })
}

#[test]
fn qr_factors_multiply_to_the_matrix() -> Result<()> {
    for_each_kind(|size, dtype| {
        for sizes in [[2, size, size], [2, size, size + 20], [2, size + 20, size]] {
            let matrix = numbers(&sizes, dtype)?;
            for mode in ["reduced", "complete"] {
                let (q, r) = aten::linalg_qr(&matrix, mode)?;
                assert_close("the product", &q.matmul(&r)?, &matrix)?;
                let columns = q.sizes()[2];
                let unit = identity(columns, dtype)?.expand([2, columns, columns])?;
                assert_close("orthonormal columns", &q.mH()?.matmul(&q)?, &unit)?;
                assert_close("the triangle", &r.triu(0)?, &r)?;
            }
            let (factors, tau) = aten::geqrf(&matrix)?;
            let (complete, _) = aten::linalg_qr(&matrix, "complete")?;
            let other = numbers(&[2, sizes[1], 5], dtype)?;
            for transpose in [false, true] {
                let q = if transpose { complete.mH()? } else { complete.clone() };
                let found = aten::ormqr(&factors, &tau, &other, true, transpose)?;
                assert_close("a product from the left", &found, &q.matmul(&other)?)?;
                let found = aten::ormqr(&factors, &tau, &other.mT()?, false, transpose)?;
                assert_close("a product from the right", &found, &other.mT()?.matmul(&q)?)?;
            }
        }
        Ok(())
    })
}

#[test]
fn ldl_decompositions_solve_systems() -> Result<()> {
    for_each_kind(|size, dtype| {
        let (matrix, b) = (numbers(&[2, size, size], dtype)?, numbers(&[2, size, 3], dtype)?);
        for hermitian in [false, true] {
            let mirrored = if hermitian { matrix.mH()? } else { matrix.mT()? };
            let symmetric = (&matrix + mirrored)?;
            let (factors, pivots) = aten::linalg_ldl_factor(&symmetric, hermitian)?;
            let x = aten::linalg_ldl_solve(&factors, &pivots, &b, hermitian)?;
            // A solution of an indefinite system can be large.
            let scale = x.abs()?.max()?.to(DType::F64)?.item::<f64>()?.max(1.0);
            let residual = ((symmetric.matmul(&x)? - &b)? / (scale * 10.0))?;
            assert_close("the system", &residual, &residual.zeros_like()?)?;
        }
        Ok(())
    })
}

#[test]
fn determinants_are_products_of_pivots() -> Result<()> {
    for_each_kind(|size, dtype| {
        let matrix = (regular(size, dtype)? / size)?;
        let (sign, logarithm) = aten::linalg_slogdet(&matrix)?;
        let (_, other) = aten::linalg_slogdet(&matrix.mT()?.contiguous()?)?;
        assert_close("the logarithm", &logarithm, &other)?;
        if size < 40 {
            assert_close("the determinant", &aten::linalg_det(&matrix)?, &(sign * logarithm.exp()?)?)?;
        }
        Ok(())
    })
}

#[test]
fn singular_matrices_are_errors_or_have_codes() -> Result<()> {
    for size in SIZES {
        let matrix = identity(size, DType::F64)?.tril(-1)?;
        let failed = |error: Error| {
            let source =
                std::error::Error::source(&error).and_then(|source| source.downcast_ref::<DecompositionFailed>());
            source.map(|failed| (failed.batch_element, failed.info > 0))
        };
        assert_eq!(failed(aten::linalg_inv(&matrix).unwrap_err()), Some((None, true)));
        assert_eq!(failed(aten::linalg_cholesky(&matrix.unsqueeze(0)?, false).unwrap_err()), Some((Some(0), true)));
        assert_eq!(failed(aten::linalg_lu_factor(&matrix, true).unwrap_err()), Some((None, true)));
        assert_eq!(aten::linalg_det(&matrix)?.item::<f64>()?, 0.0);
        assert_eq!(aten::linalg_slogdet(&matrix)?.1.item::<f64>()?, f64::NEG_INFINITY);
    }
    Ok(())
}

#[test]
fn elements_that_are_not_finite_end() -> Result<()> {
    for element in [f64::NAN, f64::INFINITY] {
        for size in SIZES {
            let matrix = Tensor::full([size, size], element, DType::F64)?;
            let (_, info) = aten::linalg_cholesky_ex(&matrix, false, false)?;
            assert!(info.item::<i32>()? > 0 || element.is_infinite());
            aten::linalg_lu_factor_ex(&matrix, true, false)?;
            aten::linalg_inv_ex(&matrix, false)?;
            aten::linalg_qr(&matrix, "reduced")?;
            let (factors, pivots, _) = aten::linalg_ldl_factor_ex(&matrix, false, false)?;
            aten::linalg_ldl_solve(&factors, &pivots, &matrix, false)?;
        }
    }
    Ok(())
}

#[test]
fn pivots_that_are_no_rows_are_errors() -> Result<()> {
    let matrix = identity(2, DType::F64)?;
    for pivots in [[0, 1], [3, 1], [i32::MIN, 1], [-1, 2]] {
        let pivots = Tensor::from(pivots);
        assert!(aten::linalg_lu_solve(&matrix, &pivots, &matrix, true, false).is_err());
        assert!(aten::lu_unpack(&matrix, &pivots, true, true).is_err());
        assert!(aten::linalg_ldl_solve(&matrix, &pivots, &matrix, false).is_err());
    }
    Ok(())
}
