//! Kernels of linear systems and inverses.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Complex32, Complex64, Spec};
use engine::data_movement::strided_view;
use engine::reduce::with_compute_type;

use crate::lu::{check_codes, factor_batch, solve_batch};
use crate::matrices::{matrix_sizes, transposed, write_columns, write_identity};

#[op_impl(aten::_linalg_solve_ex, CPU)]
fn _linalg_solve_ex(plan: &aten::SolvePlan, out: [&mut Tensor; 4], _: ...) -> Result<()> {
    let [result, lu, pivots, info] = out;
    factor_batch::<aten::_linalg_solve_ex>(A, lu, pivots, info)?;
    check_codes(info, "linalg_solve_ex", check_errors)?;
    if plan.is_vector {
        let (b, mut result) = (as_columns(B)?, as_columns(result)?);
        return solve_batch::<aten::_linalg_solve_ex>(lu, pivots, &b, left, false, &mut result);
    }
    solve_batch::<aten::_linalg_solve_ex>(lu, pivots, B, left, false, result)
}

/// Returns a view of a batch of vectors as a batch of matrices with one column.
fn as_columns(vectors: &Tensor) -> Result<Tensor> {
    let (sizes, strides) = ([vectors.sizes(), &[1]].concat(), [vectors.strides(), &[1]].concat());
    strided_view(vectors, &sizes, &strides, vectors.geometry().offset())
}

#[op_impl(aten::linalg_inv_ex, CPU)]
fn linalg_inv_ex(_plan: &(), out: [&mut Tensor; 2], _: ...) -> Result<()> {
    let [inverse, info] = out;
    let [size, _] = matrix_sizes(A);
    let mut lu = transposed(&Spec::contiguous(A.dtype(), A.sizes()).on(A.device())?)?;
    let mut pivots = Spec::contiguous(DType::I32, &A.sizes()[..A.sizes().len() - 1]).on(A.device())?;
    factor_batch::<aten::linalg_inv_ex>(A, &mut lu, &mut pivots, info)?;
    check_codes(info, "linalg_inv_ex", check_errors)?;
    let mut identity = Spec::contiguous(A.dtype(), &A.sizes()[A.sizes().len() - 2..]).on(A.device())?;
    with_compute_type!(aten::linalg_inv_ex, A.dtype(), T: [f32, f64, Complex32, Complex64] => {
        write_columns::<T>(&mut identity, |identity| {
            write_identity(identity, size);
            Ok(())
        })
    })?;
    solve_batch::<aten::linalg_inv_ex>(&lu, &pivots, &identity, true, false, inverse)
}
