//! Tests of gradients of complex decompositions: first and second order agree with finite differences.
//!
//! The functions do not depend on the phases or the order of vectors, which are arbitrary.

use aten::prelude::*;
use dispatch_autograd::functional::grad;
use dispatch_autograd::{Differentiable, GradientError};
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

type MatrixFunction = fn(&Tensor) -> Result<Tensor>;

/// Returns numbers between -1 and 1 without a pattern.
fn numbers(sizes: &[i64], frequency: f64) -> Result<Tensor> {
    let count: i64 = sizes.iter().product();
    (Tensor::arange(1..count + 1, DType::F64)?.square()? * frequency)?.cos()?.reshape(sizes)
}

/// Returns a weighted sum of the results of a function of complex matrices, which are given as their real and imaginary parts.
fn weighted_sum(function: MatrixFunction, parts: &Tensor) -> Result<Tensor> {
    let results = function(&parts.view_as_complex()?)?;
    let results = if results.dtype().is_complex() { results.view_as_real()? } else { results };
    (&results * numbers(results.sizes(), 1.3)?)?.sum()
}

/// Returns the derivative of a function along a direction: by its gradient, and by finite differences.
fn derivatives_along(
    function: &dyn Fn(&Tensor) -> Result<Tensor>,
    at: &Tensor,
    direction: &Tensor,
) -> Result<[f64; 2]> {
    let by_gradient = (grad(function, at)? * direction)?.sum()?.item::<f64>()?;
    let value = |step: f64| function(&(at + (direction * step)?)?)?.item::<f64>();
    let difference = |step: f64| Ok::<f64, Error>((value(step)? - value(-step)?) / (2.0 * step));
    let (coarse, fine) = (difference(1e-3)?, difference(5e-4)?);
    Ok([by_gradient, (4.0 * fine - coarse) / 3.0])
}

pub(super) fn check(name: &str, function: MatrixFunction, sizes: &[i64]) -> Result<()> {
    let sizes = [sizes, &[2]].concat();
    let parts = numbers(&sizes, 2.1)?;
    let [direction, mixture] = [numbers(&sizes, 0.7)?, numbers(&sizes, 3.3)?];
    let first = |x: &Tensor| weighted_sum(function, x);
    let second = |x: &Tensor| (grad(first, x)? * &mixture)?.sum();
    for (order, [actual, expected]) in
        [derivatives_along(&first, &parts, &direction)?, derivatives_along(&second, &parts, &direction)?]
            .into_iter()
            .enumerate()
    {
        let order = order + 1;
        assert!(
            (actual - expected).abs() <= 1e-6 * (1.0 + expected.abs()),
            "{name}, order {order}: {actual}, not {expected}"
        );
    }
    Ok(())
}

pub(super) fn hermitian(matrix: &Tensor) -> Result<Tensor> {
    matrix + matrix.mH()?
}

#[test]
fn eigenvalues_and_eigenvectors_have_gradients() -> Result<()> {
    check("eigenvalues", |a| aten::linalg_eigvalsh(&hermitian(a)?, "L"), &[3, 3])?;
    check("upper triangle", |a| aten::linalg_eigvalsh(&hermitian(a)?, "U"), &[2, 3, 3])?;
    check("eigenvectors", |a| aten::linalg_eigh(&hermitian(a)?, "L")?.1.abs(), &[3, 3])?;
    let exponential = |a: &Tensor| {
        let (values, vectors) = aten::linalg_eigh(&hermitian(a)?, "L")?;
        (&vectors * values.exp()?.unsqueeze(-2)?)?.matmul(&vectors.mH()?)
    };
    check("a function of a matrix", exponential, &[3, 3])?;
    check("general eigenvalues", |a| aten::linalg_eigvals(a)?.pow(3)?.sum(), &[2, 3, 3])?;
    check("eigenvalues of eig", |a| aten::linalg_eig(a)?.0.exp()?.sum(), &[3, 3])?;
    check("magnitudes of eigenvectors", |a| aten::linalg_eig(a)?.1.abs()?.square()?.square()?.sum(), &[3, 3])?;
    check(
        "real matrices",
        |a| {
            let (values, vectors) = aten::linalg_eig(&a.real()?)?;
            (values.exp()?.unsqueeze(-2)? * vectors.abs()?)?.sum()
        },
        &[4, 4],
    )
}

#[test]
fn singular_values_and_vectors_have_gradients() -> Result<()> {
    for sizes in [[3, 3], [4, 2], [2, 4]] {
        check("singular values", |a| aten::linalg_svdvals(a, None), &sizes)?;
        check("left vectors", |a| aten::linalg_svd(a, false, None)?.0.abs(), &sizes)?;
        check("right vectors", |a| aten::linalg_svd(a, false, None)?.2.abs(), &sizes)?;
        let other_values = |a: &Tensor| {
            let (left, values, right) = aten::linalg_svd(a, false, None)?;
            (left * values.square()?.unsqueeze(-2)?)?.matmul(&right)
        };
        check("a function of singular values", other_values, &sizes)?;
        check("pseudoinverse", |a| aten::linalg_pinv(a, 1e-6, false), &sizes)?;
        check("nuclear norm", |a| aten::nuclear_norm(a, false), &sizes)?;
        check("condition number", |a| aten::linalg_cond(a, None), &sizes)?;
    }
    Ok(())
}

#[test]
fn functions_of_matrices_have_gradients() -> Result<()> {
    check("exponential", aten::linalg_matrix_exp, &[2, 3, 3])?;
    check("square root", |a| aten::linalg_matrix_sqrth(&a.matmul(&a.mH()?)?), &[3, 3])?;
    for sizes in [[3, 3], [4, 2]] {
        check("orthonormal factor", |a| Ok(aten::linalg_polar(a)?.0), &sizes)?;
        check("positive factor", |a| Ok(aten::linalg_polar(a)?.1), &sizes)?;
    }
    Ok(())
}

#[test]
fn a_function_of_arbitrary_phases_has_no_gradient() -> Result<()> {
    let functions: [MatrixFunction; 3] = [
        |a| aten::linalg_eigh(&hermitian(a)?, "L")?.1.real(),
        |a| aten::linalg_svd(a, false, None)?.0.real(),
        |a| aten::linalg_eig(a)?.1.imag(),
    ];
    for function in functions {
        let leaf = numbers(&[3, 3, 2], 2.1)?.requires_grad_(true)?;
        let error = weighted_sum(function, &leaf)?.backward().unwrap_err();
        let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref());
        assert!(matches!(source, Some(GradientError::DependsOnPhase { .. })), "{error}");
    }
    Ok(())
}
