//! Tests of eigenvalues and singular values: elements that are not finite, extreme magnitudes, and matrices without enough eigenvectors.

use aten::DecompositionFailed;
use aten::prelude::*;
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

fn is_nan(tensor: &Tensor) -> bool {
    tensor.isnan().unwrap().all().unwrap().item().unwrap()
}

fn largest(tensor: &Tensor) -> f64 {
    tensor.abs().unwrap().max().unwrap().item().unwrap()
}

#[test]
fn elements_that_are_not_finite_give_nan_or_an_error() {
    for element in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for size in [1_i64, 2, 5, 40] {
            let matrix = aten::eye(size, Some(DType::F64), None, None, None).unwrap();
            let matrix = aten::masked_fill_scalar(&matrix, &matrix.gt(0).unwrap(), element.into()).unwrap();
            let (values, vectors) = aten::linalg_eigh(&matrix, "L").unwrap();
            assert!(is_nan(&values) && is_nan(&vectors));
            assert!(is_nan(&aten::linalg_eigvals(&matrix).unwrap()));
            let error = aten::linalg_eig(&matrix).unwrap_err();
            let source = std::error::Error::source(&error).unwrap();
            assert!(source.downcast_ref::<DecompositionFailed>().unwrap().info < 0);
            let singular_values = aten::linalg_svdvals(&matrix, None);
            assert_eq!(singular_values.is_err(), element.is_nan());
            assert!(singular_values.iter().all(is_nan));
            assert!(is_nan(&aten::linalg_matrix_exp(&matrix).unwrap()));
        }
    }
}

#[test]
fn extreme_magnitudes_are_scaled() {
    let matrix = Tensor::from([[2.0, 1.0], [1.0, 2.0]]);
    for scale in [1e-300, 1e-160, 1e160, 1e300] {
        let scaled = (&matrix * scale).unwrap();
        let are = |values: &Tensor, expected: [f64; 2]| {
            let values = (values / scale).unwrap().to_vec::<f64>().unwrap();
            assert!(
                values.iter().zip(expected).all(|(value, expected)| (value - expected).abs() < 1e-14),
                "{values:?}"
            );
        };
        are(&aten::linalg_eigvalsh(&scaled, "U").unwrap(), [1.0, 3.0]);
        are(&aten::linalg_svdvals(&scaled, None).unwrap(), [3.0, 1.0]);
        let (values, vectors) = aten::linalg_eigh(&scaled, "L").unwrap();
        are(&values, [1.0, 3.0]);
        let products = vectors.mT().unwrap().matmul(&vectors).unwrap().to_vec::<f64>().unwrap();
        assert!(products.iter().zip([1.0, 0.0, 0.0, 1.0]).all(|(found, expected)| (found - expected).abs() < 1e-14));
    }
}

#[test]
fn a_jordan_block_has_finite_eigenvectors() {
    for size in [2_i64, 10, 60] {
        let identity = aten::eye(size, Some(DType::F64), None, None, None).unwrap();
        let above = identity.roll(1, 1).unwrap().triu(1).unwrap();
        let block = ((&identity * 2.0).unwrap() + above).unwrap();
        let (values, vectors) = aten::linalg_eig(&block).unwrap();
        let block = block.to(DType::C128).unwrap();
        let residual = (block.matmul(&vectors).unwrap() - (&vectors * values.unsqueeze(-2).unwrap()).unwrap()).unwrap();
        assert!(largest(&residual) < 1e-13, "{size}: {}", largest(&residual));
        let norms = aten::linalg_vector_norm(&vectors, 2.into(), Some(&[-2]), false, None).unwrap();
        assert!(largest(&(norms - 1.0).unwrap()) < 1e-13);
    }
}

#[test]
fn exponentials_of_large_multiples_end() {
    let turn = Tensor::from([[0.0, 1.0], [-1.0, 0.0]]);
    let angle = 1000.0_f64;
    let found = aten::linalg_matrix_exp(&(&turn * angle).unwrap()).unwrap().to_vec::<f64>().unwrap();
    let expected = [angle.cos(), angle.sin(), -angle.sin(), angle.cos()];
    assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-10), "{found:?}");
    assert!(aten::linalg_matrix_exp(&(turn * 1e308).unwrap()).is_ok());
}
