//! Calls on small and large tensors, as for PyTorch in `../../pytorch/calls.cpp` and `../../pytorch/peer.py`.

use dispatch_runtime::{Result, Scalar, Tensor};
use peer::{Job, new_job};

const ALPHA_ONE: Scalar = Scalar::Int(1);

/// Returns the job for a call on tensors of one element.
pub(crate) fn small_call_job(name: &str) -> Option<Job> {
    let (mut a, b) = (Tensor::from(vec![1.5_f32]), Tensor::from(vec![2.5_f32]));
    let (row, column) = (Tensor::from(vec![[1.5_f32]]), Tensor::from(vec![[2.5_f32]]));
    match name {
        "empty function" => new_job(|| ()),
        "add" => new_job(move || aten::add(&a, &b, ALPHA_ONE)),
        "add out=" => {
            let mut out = Tensor::from(vec![0.0_f32]);
            new_job(move || aten::add_out(&a, &b, ALPHA_ONE, &mut out))
        }
        "add_" => new_job(move || aten::add_(&mut a, &b, ALPHA_ONE)),
        "relu" => new_job(move || aten::relu(&a)),
        "mm 1x1" => new_job(move || aten::mm(&row, &column)),
        "empty({1})" => new_job(|| aten::empty_memory_format(&[1], None, None, None, None, None)),
        "view" => new_job(move || aten::view(&a, &[1, 1])),
        _ => None,
    }
}

/// Returns the job for a call on large tensors. The name is the operator and the sizes.
pub(crate) fn large_call_job(name: &str) -> Option<Job> {
    let (operator, sizes) = name.rsplit_once(' ')?;
    let sizes: Vec<i64> = sizes.split('x').map(|size| size.parse().ok()).collect::<Option<_>>()?;
    let (rows, columns) = (sizes[sizes.len() - 2], sizes[sizes.len() - 1]);
    let a = pseudo_random_tensor(&sizes).expect("the CPU has memory for these tensors");
    let b = pseudo_random_tensor(&sizes).expect("the CPU has memory for these tensors");
    match operator {
        "matmul" => new_job(move || aten::mm(&a, &b)),
        "bmm" => new_job(move || aten::bmm(&a, &b)),
        "softmax" => new_job(move || aten::_softmax(&a, 1, false)),
        "layer_norm" => {
            let weight = pseudo_random_tensor(&[columns]).ok()?;
            new_job(move || aten::native_layer_norm(&a, &[columns], Some(&weight), Some(&weight), 1e-5))
        }
        "exp" => new_job(move || aten::exp(&a)),
        "gelu" => new_job(move || aten::gelu(&a, "none")),
        "add" => new_job(move || aten::add(&a, &b, ALPHA_ONE)),
        "mul" => new_job(move || aten::mul(&a, &b)),
        "add, transposed" => {
            let b = aten::t(&b).ok()?;
            new_job(move || aten::add(&a, &b, ALPHA_ONE))
        }
        "add, every second" => {
            let wide = [rows, 2 * columns];
            let [a, b] = [(); 2].map(|()| aten::slice(&pseudo_random_tensor(&wide).ok()?, 1, None, None, 2).ok());
            let (a, b) = (a?, b?);
            new_job(move || aten::add(&a, &b, ALPHA_ONE))
        }
        "add a row" => {
            let b = aten::slice(&b, 0, None, Some(1), 1).ok()?;
            new_job(move || aten::add(&a, &b, ALPHA_ONE))
        }
        "add a column" => {
            let b = aten::slice(&b, 1, None, Some(1), 1).ok()?;
            new_job(move || aten::add(&a, &b, ALPHA_ONE))
        }
        "sum, rows" => new_job(move || aten::sum_dim_intlist(&a, Some(&[0]), false, None)),
        "sum, columns" => new_job(move || aten::sum_dim_intlist(&a, Some(&[1]), false, None)),
        "cholesky" => {
            let positive = well_conditioned(&aten::matmul(&a, &aten::mT(&a).ok()?).ok()?).ok()?;
            new_job(move || aten::linalg_cholesky_ex(&positive, false, false))
        }
        "lu" => new_job(move || aten::linalg_lu_factor_ex(&a, true, false)),
        "qr" => new_job(move || aten::linalg_qr(&a, "reduced")),
        "eigenvalues" => new_job(move || aten::linalg_eigvals(&a)),
        "symmetric eigenvectors" => {
            let symmetric = aten::matmul(&a, &aten::mT(&a).ok()?).ok()?;
            new_job(move || aten::linalg_eigh(&symmetric, "L"))
        }
        "singular vectors" => new_job(move || aten::linalg_svd(&a, false, None)),
        "inverse" => {
            let a = well_conditioned(&a).ok()?;
            new_job(move || aten::linalg_inv_ex(&a, false))
        }
        "solve" => {
            let a = well_conditioned(&a).ok()?;
            new_job(move || aten::linalg_solve_ex(&a, &b, true, false))
        }
        "max, rows" => new_job(move || aten::max_dim(&a, 0, false)),
        "max, columns" => new_job(move || aten::max_dim(&a, 1, false)),
        _ => None,
    }
}

/// Adds a multiple of the identity to square matrices.
fn well_conditioned(matrices: &Tensor) -> Result<Tensor> {
    let size = matrices.sizes().last().copied().unwrap_or(0);
    let identity = aten::eye(size, None, None, None, None)?;
    aten::add(matrices, &identity, Scalar::Int(4 * size))
}

/// Returns a tensor of pseudo-random values around zero, the same in every run.
pub(crate) fn pseudo_random_tensor(sizes: &[i64]) -> Result<Tensor> {
    let mut state = 1_u32;
    let elements = (0..sizes.iter().product()).map(|_: i64| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f32::from(u16::try_from(state >> 16).unwrap_or(0)) / 16384.0 - 2.0
    });
    aten::view(&Tensor::from(elements.collect::<Vec<f32>>()), sizes)
}
