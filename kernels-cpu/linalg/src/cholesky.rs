//! Kernels of Cholesky decompositions, and of the systems that they solve.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Complex32, Complex64};
use engine::compute::RealFloat;
use engine::math::Real;
use engine::math::vectorised;
use engine::reduce::with_compute_type;
use faer::Conj;
use faer::prelude::{Reborrow, ReborrowMut};

use crate::blocks::{Triangle, column_groups, columns_per_thread, solve_triangle, subtract_own_product, view_mut};
use crate::lu::check_codes;
use crate::matrices::{
    column_major, column_major_expanded, for_each_piece, matrices_per_piece, matrix_sizes, transposed, update_columns,
    write_columns, write_identity,
};
use crate::number::{Number, RealOf};
use crate::triangular::{MatrixForm, for_each_system, solve_columns};

/// The largest matrix that is decomposed column by column. Larger ones are divided.
const MAX_UNBLOCKED_SIZE: usize = 32;

#[op_impl(aten::linalg_cholesky_ex, CPU)]
fn linalg_cholesky_ex(_plan: &(), out: [&mut Tensor; 2], this: &Tensor, upper: bool, check_errors: bool) -> Result<()> {
    let [factor, info] = out;
    info.write::<i32>()?.fill(0);
    let [size, _] = matrix_sizes(this);
    // The upper factor of a matrix is the adjoint of the lower factor of its adjoint.
    let initial = if upper { transposed(this)? } else { this.clone() };
    with_compute_type!(aten::linalg_cholesky_ex, factor.dtype(), T: [f32, f64, Complex32, Complex64] => {
        update_columns::<T>(factor, &initial, |factors| {
            let mut info = info.write::<i32>()?;
            let step = matrices_per_piece(info.len(), size * size * size / 3);
            for_each_piece(factors.chunks_mut(step * size * size).zip(info.chunks_mut(step)), |(factors, info)| {
                for (factor, info) in factors.chunks_exact_mut(size * size).zip(info) {
                    *info = decompose(factor, size, upper);
                }
            });
            Ok(())
        })
    })?;
    check_codes(info, "linalg_cholesky_ex", check_errors)
}

/// Decomposes a column-major matrix in place, or the conjugate of one if `upper`. Returns the order of the first leading minor that is not
/// positive, or zero.
fn decompose<T: Number>(matrix: &mut [T], size: usize, upper: bool) -> i32 {
    if upper {
        for x in matrix.iter_mut() {
            *x = x.conjugate();
        }
    }
    let failed = decompose_block(matrix, size, size);
    for (column, elements) in matrix.chunks_exact_mut(size).enumerate() {
        elements[..column].fill(T::ZERO);
    }
    if upper {
        transpose_to_upper(matrix, size);
    }
    failed.map_or(0, |index| i32::try_from(index + 1).unwrap_or(i32::MAX))
}

/// Replaces a lower triangular matrix by its adjoint.
fn transpose_to_upper<T: Number>(matrix: &mut [T], size: usize) {
    const TILE: usize = 16;
    for left in (0..size).step_by(TILE) {
        for top in (left..size).step_by(TILE) {
            for column in left..size.min(left + TILE) {
                for row in top.max(column + 1)..size.min(top + TILE) {
                    matrix[row * size + column] = matrix[column * size + row].conjugate();
                    matrix[column * size + row] = T::ZERO;
                }
            }
        }
    }
}

/// Decomposes the lower triangle of a block whose columns are `stride` elements apart. Returns the index of the first diagonal element that
/// is not positive.
fn decompose_block<T: Number>(block: &mut [T], stride: usize, size: usize) -> Option<usize> {
    if size <= MAX_UNBLOCKED_SIZE {
        return decompose_column_by_column(block, stride, size);
    }
    let width = (size / 2).next_multiple_of(16);
    let rest = size - width;
    let (left, right) = block.split_at_mut(width * stride);
    if let Some(index) = decompose_block(left, stride, width) {
        return Some(index);
    }
    let (top, mut bottom) = view_mut(left, size, width, stride).split_at_row_mut(width);
    let group_width = columns_per_thread(rest, width * width * rest / 2);
    let rows = column_groups(bottom.rb_mut().transpose_mut(), group_width);
    for_each_piece(rows, |rows| solve_triangle(Triangle::LOWER, top.rb(), Conj::Yes, rows));
    subtract_own_product(view_mut(&mut right[width..], rest, rest, stride), bottom.rb());
    decompose_block(&mut right[width..], stride, rest).map(|index| width + index)
}

/// Decomposes the lower triangle of a block, one column at a time.
fn decompose_column_by_column<T: Number>(block: &mut [T], stride: usize, size: usize) -> Option<usize> {
    vectorised(
        #[inline(always)]
        || {
            for step in 0..size {
                let (before, column) = block.split_at_mut(step * stride);
                let column = &mut column[step..size];
                let squares = before.chunks_exact(stride).map(|before| before[step].square());
                let diagonal = squares.fold(column[0].real(), |rest, square| rest - square);
                if diagonal <= RealOf::<T>::ZERO || diagonal.is_nan() {
                    column[0] = T::from_real(diagonal);
                    return Some(step);
                }
                for before in before.chunks_exact(stride) {
                    let before = &before[step..size];
                    let factor = before[0].conjugate();
                    for (x, &other) in column[1..].iter_mut().zip(&before[1..]) {
                        *x = x.minus(factor.times(other));
                    }
                }
                let root = diagonal.sqrt();
                column[0] = T::from_real(root);
                let reciprocal = RealOf::<T>::ONE / root;
                column[1..].iter_mut().for_each(|x| *x = x.scaled(reciprocal));
            }
            None
        },
    )
}

#[op_impl(aten::_cholesky_solve_helper, CPU)]
fn _cholesky_solve_helper(_plan: &(), out: &mut Tensor, _: ...) -> Result<()> {
    let [size, _] = matrix_sizes(out);
    with_compute_type!(aten::_cholesky_solve_helper, out.dtype(), T: [f32, f64, Complex32, Complex64] => {
        let factors = column_major_expanded(A, out)?;
        let factors = factors.read::<T>()?;
        update_columns::<T>(out, this, |x| {
            for_each_system(&factors, size, x, |_, factor, x| solve_with_factor(factor, size, upper, x));
            Ok(())
        })
    })
}

#[op_impl(aten::cholesky_inverse, CPU)]
fn cholesky_inverse(_plan: &(), out: &mut Tensor, this: &Tensor, upper: bool) -> Result<()> {
    let [size, _] = matrix_sizes(this);
    with_compute_type!(aten::cholesky_inverse, out.dtype(), T: [f32, f64, Complex32, Complex64] => {
        let factors = column_major(this)?;
        let factors = factors.read::<T>()?;
        check_diagonal(&factors, size, this.sizes().len() == 2)?;
        write_columns::<T>(out, |x| {
            x.chunks_exact_mut(size * size).for_each(|x| write_identity(x, size));
            for_each_system(&factors, size, x, |_, factor, x| solve_with_factor(factor, size, upper, x));
            Ok(())
        })
    })
}

/// Returns an error if a factor has a zero on its diagonal.
fn check_diagonal<T: Number>(factors: &[T], size: usize, is_matrix: bool) -> Result<()> {
    if factors.is_empty() {
        return Ok(());
    }
    for (index, factor) in factors.chunks_exact(size * size).enumerate() {
        if let Some(step) = (0..size).find(|step| factor[step * (size + 1)] == T::ZERO) {
            return Err(Error::kernel(aten::DecompositionFailed {
                function: "cholesky_inverse".to_owned(),
                batch_element: (!is_matrix).then_some(index),
                info: i32::try_from(step + 1).unwrap_or(i32::MAX),
            }));
        }
    }
    Ok(())
}

/// Solves `L L^H x = b`, or `U^H U x = b`.
fn solve_with_factor<T: Number>(factor: &[T], size: usize, upper: bool, columns: &mut [T]) {
    let triangle = Triangle { is_upper: upper, has_unit_diagonal: false };
    let forms = if upper { [MatrixForm::ADJOINT, MatrixForm::PLAIN] } else { [MatrixForm::PLAIN, MatrixForm::ADJOINT] };
    for form in forms {
        solve_columns(triangle, form, factor, size, columns);
    }
}
