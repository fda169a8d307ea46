//! Kernels of LU decompositions with partial pivoting, and of the systems that they solve.

use std::cmp::Ordering;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Complex32, Complex64, Operation};
use engine::allocation::to_usize;
use engine::contiguous::write_contiguous;
use engine::data_movement::broadcast_to_contiguous;
use engine::math::vectorised;
use engine::reduce::with_compute_type;
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Conj, MatMut};

use crate::blocks::{Triangle, column_groups, columns_per_thread, solve_triangle, subtract_product, view, view_mut};
use crate::matrices::{
    column_major, column_major_expanded, for_each_piece, matrices_per_piece, matrix_sizes, transposed, update_columns,
};
use crate::number::Number;
use crate::triangular::{MatrixForm, for_each_system, solve_columns};

/// The most columns that are decomposed one by one. Wider matrices are divided.
const MAX_UNBLOCKED_WIDTH: usize = 16;

#[op_impl(aten::linalg_lu_factor_ex, CPU)]
fn linalg_lu_factor_ex(_plan: &(), out: [&mut Tensor; 3], _: ...) -> Result<()> {
    let [lu, pivots, info] = out;
    factor_batch::<aten::linalg_lu_factor_ex>(A, lu, pivots, info)?;
    check_codes(info, "linalg_lu_factor_ex", check_errors)
}

#[op_impl(aten::linalg_lu, CPU)]
fn linalg_lu(_plan: &(), out: [&mut Tensor; 3], _: ...) -> Result<()> {
    let (lu, pivots, _) = aten::linalg_lu_factor_ex(A, true, false)?;
    unpack_batch::<aten::linalg_lu>(&lu, &pivots, out, [true, true])
}

#[op_impl(aten::lu_unpack, CPU)]
fn lu_unpack(_plan: &(), out: [&mut Tensor; 3], _: ...) -> Result<()> {
    unpack_batch::<aten::lu_unpack>(LU_data, LU_pivots, out, [unpack_data, unpack_pivots])
}

#[op_impl(aten::linalg_lu_solve, CPU)]
fn linalg_lu_solve(_plan: &(), out: &mut Tensor, _: ...) -> Result<()> {
    check_pivot_range("pivots", pivots, matrix_sizes(LU)[0])?;
    solve_batch::<aten::linalg_lu_solve>(LU, pivots, B, left, adjoint, out)
}

/// Returns an error for codes that are not zero, if the caller asked for it.
pub(crate) fn check_codes(info: &Tensor, function: &str, check_errors: bool) -> Result<()> {
    if check_errors { aten::_linalg_check_errors(info, function, info.sizes().is_empty()) } else { Ok(()) }
}

/// Refuses pivots that are no rows of the matrices.
fn check_pivot_range(name: &'static str, pivots: &Tensor, rows: usize) -> Result<()> {
    let rows = i64::try_from(rows).unwrap_or(i64::MAX);
    let found = pivots.to_vec::<i32>()?.into_iter().map(i64::from).find(|pivot| !(1..=rows).contains(pivot));
    match found {
        Some(pivot) => Err(BadArgument::number(name, pivot, 1..=rows).into()),
        None => Ok(()),
    }
}

/// Writes the factors `P`, `L` and `U` of every matrix of a batch. Of the factors of `out`, those that are not requested are empty.
fn unpack_batch<O: Operation>(
    lu: &Tensor,
    pivots: &Tensor,
    out: [&mut Tensor; 3],
    [data, permutation]: [bool; 2],
) -> Result<()> {
    let [rows, columns] = matrix_sizes(lu);
    let size = rows.min(columns);
    let [p, l, u] = out;
    with_compute_type!(O, lu.dtype(), T: [f32, f64, Complex32, Complex64] => {
        if permutation && p.geometry().count() > 0 {
            check_pivot_range("LU_pivots", pivots, rows)?;
            let pivots = pivots.to_vec::<i32>()?;
            write_contiguous(p, |out: &mut [T]| {
                for (matrix, out) in out.chunks_exact_mut(rows * rows).enumerate() {
                    write_permutation(out, rows, &pivots[matrix * size..][..size]);
                }
                Ok(())
            })?;
        }
        if data && lu.geometry().count() > 0 {
            let factors = column_major(lu)?;
            let factors = factors.read::<T>()?;
            write_contiguous(l, |out: &mut [T]| {
                write_rows(&factors, [rows, columns], out, [rows, size], |row, column, x| match row.cmp(&column) {
                    Ordering::Greater => x,
                    Ordering::Equal => T::ONE,
                    Ordering::Less => T::ZERO,
                });
                Ok(())
            })?;
            write_contiguous(u, |out: &mut [T]| {
                write_rows(&factors, [rows, columns], out, [size, columns], |row, column, x| {
                    if row > column { T::ZERO } else { x }
                });
                Ok(())
            })?;
        }
        Ok(())
    })
}

/// Writes the matrix that exchanges rows as the pivots say.
fn write_permutation<T: Number>(out: &mut [T], rows: usize, pivots: &[i32]) {
    let mut order: Vec<usize> = (0..rows).collect();
    for (row, &pivot) in pivots.iter().enumerate() {
        order.swap(row, to_usize(i64::from(pivot)) - 1);
    }
    out.fill(T::ZERO);
    for (column, row) in order.into_iter().enumerate() {
        out[row * rows + column] = T::ONE;
    }
}

/// Writes the leading block of every column-major matrix in row-major order. `each` maps the elements.
fn write_rows<T: Number>(
    matrices: &[T],
    [rows, columns]: [usize; 2],
    out: &mut [T],
    [height, width]: [usize; 2],
    each: impl Fn(usize, usize, T) -> T,
) {
    for (matrix, out) in matrices.chunks_exact(rows * columns).zip(out.chunks_exact_mut(height * width)) {
        for (row, out) in out.chunks_exact_mut(width).enumerate() {
            for (column, out) in out.iter_mut().enumerate() {
                *out = each(row, column, matrix[column * rows + row]);
            }
        }
    }
}

/// Solves a system for every matrix of a batch, from its decomposition.
pub(crate) fn solve_batch<O: Operation>(
    lu: &Tensor,
    pivots: &Tensor,
    b: &Tensor,
    left: bool,
    adjoint: bool,
    out: &mut Tensor,
) -> Result<()> {
    if out.geometry().count() == 0 {
        return Ok(());
    }
    if !left {
        // `x a = b` is `a^T x^T = b^T`, and `x a^H = b` is `conj(a) x^T = b^T`.
        let form = MatrixForm { is_transposed: !adjoint, is_conjugate: adjoint };
        return solve_form::<O>(lu, pivots, &transposed(b)?, form, &mut transposed(out)?);
    }
    solve_form::<O>(lu, pivots, b, if adjoint { MatrixForm::ADJOINT } else { MatrixForm::PLAIN }, out)
}

fn solve_form<O: Operation>(
    lu: &Tensor,
    pivots: &Tensor,
    b: &Tensor,
    form: MatrixForm,
    out: &mut Tensor,
) -> Result<()> {
    let [size, _] = matrix_sizes(out);
    let batch = &out.sizes()[..out.sizes().len() - 2];
    let pivot_sizes = [batch, &pivots.sizes()[pivots.sizes().len() - 1..]].concat();
    let pivots = broadcast_to_contiguous("pivots", pivots, DType::I32, &pivot_sizes)?.to_vec::<i32>()?;
    with_compute_type!(O, out.dtype(), T: [f32, f64, Complex32, Complex64] => {
        let factors = column_major_expanded(lu, out)?;
        let factors = factors.read::<T>()?;
        update_columns::<T>(out, b, |x| {
            for_each_system(&factors, size, x, |matrix, factor, x| {
                solve_with_factors(factor, size, &pivots[matrix * size..][..size], form, x);
            });
            Ok(())
        })
    })
}

fn solve_with_factors<T: Number>(factor: &[T], size: usize, pivots: &[i32], form: MatrixForm, columns: &mut [T]) {
    let row = |pivot: i32| to_usize(i64::from(pivot)) - 1;
    if form.is_transposed {
        solve_columns(Triangle::UPPER, form, factor, size, columns);
        solve_columns(Triangle::UNIT_LOWER, form, factor, size, columns);
        for column in columns.chunks_exact_mut(size) {
            pivots.iter().enumerate().rev().for_each(|(step, &pivot)| column.swap(step, row(pivot)));
        }
    } else {
        for column in columns.chunks_exact_mut(size) {
            pivots.iter().enumerate().for_each(|(step, &pivot)| column.swap(step, row(pivot)));
        }
        solve_columns(Triangle::UNIT_LOWER, form, factor, size, columns);
        solve_columns(Triangle::UPPER, form, factor, size, columns);
    }
}

/// Decomposes every matrix of a batch. `info` gets the 1-based index of the first zero on the diagonal of each upper factor, or zero.
pub(crate) fn factor_batch<O: Operation>(
    a: &Tensor,
    lu: &mut Tensor,
    pivots: &mut Tensor,
    info: &mut Tensor,
) -> Result<()> {
    let [rows, columns] = matrix_sizes(a);
    let size = rows.min(columns);
    info.write::<i32>()?.fill(0);
    with_compute_type!(O, lu.dtype(), T: [f32, f64, Complex32, Complex64] => {
        update_columns::<T>(lu, a, |lu| {
            let (mut pivots, mut info) = (pivots.write::<i32>()?, info.write::<i32>()?);
            let step = matrices_per_piece(info.len(), rows * columns * size);
            let pieces = lu.chunks_mut(step * rows * columns).zip(pivots.chunks_mut(step * size)).zip(info.chunks_mut(step));
            for_each_piece(pieces, |((lu, pivots), info)| {
                let matrices = lu.chunks_exact_mut(rows * columns).zip(pivots.chunks_exact_mut(size));
                for ((lu, pivots), info) in matrices.zip(info) {
                    *info = factor(lu, [rows, columns], pivots);
                }
            });
            Ok(())
        })
    })
}

/// Decomposes a column-major matrix in place. Returns the 1-based index of the first zero pivot, or zero.
fn factor<T: Number>(matrix: &mut [T], [rows, columns]: [usize; 2], pivots: &mut [i32]) -> i32 {
    let first_zero = factor_block(matrix, rows, [rows, columns], pivots);
    first_zero.map_or(0, |index| to_i32(index + 1))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "plans refuse sizes that do not fit")]
pub(crate) fn to_i32(index: usize) -> i32 {
    index as i32
}

/// Decomposes a block of a matrix whose columns are `stride` elements apart. The pivots are 1-based rows of the block. Returns the index of
/// the first zero pivot.
fn factor_block<T: Number>(
    block: &mut [T],
    stride: usize,
    [rows, columns]: [usize; 2],
    pivots: &mut [i32],
) -> Option<usize> {
    let size = rows.min(columns);
    if size <= MAX_UNBLOCKED_WIDTH {
        return factor_column_by_column(block, stride, [rows, columns], pivots);
    }
    let width = (size / 2).next_multiple_of(8);
    let (left, right) = block.split_at_mut(width * stride);
    let (left_pivots, right_pivots) = pivots.split_at_mut(width);
    let first_zero = factor_block(left, stride, [rows, width], left_pivots);

    let (top, bottom) = view(left, rows, width, stride).split_at_row(width);
    let others = columns - width;
    let group_width = columns_per_thread(others, rows * width * others);
    for_each_piece(column_groups(view_mut(right, rows, others, stride), group_width), |mut group| {
        swap_rows(group.rb_mut(), left_pivots);
        let (mut upper, lower) = group.split_at_row_mut(width);
        solve_triangle(Triangle::UNIT_LOWER, top, Conj::No, upper.rb_mut());
        subtract_product(lower, bottom, upper.rb());
    });

    let second_zero = factor_block(&mut right[width..], stride, [rows - width, others], right_pivots);
    swap_rows(view_mut(left, rows, width, stride).subrows_mut(width, rows - width), right_pivots);
    for pivot in right_pivots {
        *pivot += to_i32(width);
    }
    first_zero.or_else(|| second_zero.map(|index| width + index))
}

/// Exchanges each row of the first ones with its pivot, in order.
fn swap_rows<T>(matrix: MatMut<'_, T>, pivots: &[i32]) {
    for column in matrix.col_iter_mut() {
        let Some(column) = column.try_as_col_major_mut() else { continue };
        let column = column.as_slice_mut();
        for (row, &pivot) in pivots.iter().enumerate() {
            column.swap(row, to_usize(i64::from(pivot)) - 1);
        }
    }
}

/// Decomposes a block, one column at a time.
fn factor_column_by_column<T: Number>(
    block: &mut [T],
    stride: usize,
    [rows, columns]: [usize; 2],
    pivots: &mut [i32],
) -> Option<usize> {
    vectorised(
        #[inline(always)]
        || {
            let mut first_zero = None;
            for (step, pivot) in pivots.iter_mut().enumerate() {
                let end = block.len().min((step + 1) * stride);
                let (left, right) = block.split_at_mut(end);
                let (before, column) = left.split_at_mut(step * stride);
                let column = &mut column[..rows];
                let row = step + index_of_largest(&column[step..]);
                *pivot = to_i32(row + 1);
                let others = right.chunks_mut(stride).take(columns - step - 1);
                if column[row] == T::ZERO {
                    first_zero = first_zero.or(Some(step));
                } else {
                    if row != step {
                        column.swap(step, row);
                        before.chunks_mut(stride).for_each(|column| column.swap(step, row));
                    }
                    let reciprocal = T::ONE.divided(column[step]);
                    column[step + 1..].iter_mut().for_each(|x| *x = x.times(reciprocal));
                }
                for other in others {
                    let other = &mut other[..rows];
                    other.swap(step, row);
                    subtract_multiple_below(step, other, column);
                }
            }
            first_zero
        },
    )
}

/// Subtracts a multiple of `column` from the elements of `other` below the row `step`, whose element is the factor.
#[inline(always)]
fn subtract_multiple_below<T: Number>(step: usize, other: &mut [T], column: &[T]) {
    let factor = other[step];
    if let (Ok(other), Ok(column)) = (<&mut [T; 8]>::try_from(&mut *other), <&[T; 8]>::try_from(column)) {
        // A loop of a constant length becomes vector instructions.
        for (row, (x, &scaled)) in other.iter_mut().zip(column).enumerate() {
            *x = if row > step { x.minus(factor.times(scaled)) } else { *x };
        }
        return;
    }
    for (x, &scaled) in other[step + 1..].iter_mut().zip(&column[step + 1..]) {
        *x = x.minus(factor.times(scaled));
    }
}

/// Returns the index of the first largest element; zero if the first one is NaN.
#[inline(always)]
fn index_of_largest<T: Number>(column: &[T]) -> usize {
    let (mut index, mut largest) = (0, column[0].magnitude_sum());
    for (at, x) in column.iter().enumerate().skip(1) {
        if x.magnitude_sum() > largest {
            (index, largest) = (at, x.magnitude_sum());
        }
    }
    index
}
