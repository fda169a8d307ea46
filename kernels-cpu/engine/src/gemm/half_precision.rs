//! Matrix products of `f16` and `bf16`: blocks of the operands are widened to `f32` and multiplied, and each sum is rounded once.
//!
//! The `f16` product of the `gemm` crate would round the intermediate sum to `f16` after every few hundred terms.

use super::{Matrix, MatrixMut, entry::EntryImpl, floating_point, store_entry};
use crate::convert::conversion_function;
use crate::thread_pool;
use dispatch_runtime::DType;

/// The fewest elements that are worth a thread.
const GRAIN_SIZE: usize = 1 << 15;

/// The sizes of blocks: rows and columns of `C`, and terms of a sum. Each widened element is used hundreds of times, so the cost of
/// widening some elements again is negligible.
const ROWS_PER_BLOCK: usize = 256;
const COLUMNS_PER_BLOCK: usize = 512;
const TERMS_PER_BLOCK: usize = 256;

pub(super) fn product<T: EntryImpl<Sum = f32>>(
    alpha: f32,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    beta: f32,
    c: MatrixMut<'_, T>,
) {
    let by_rows = c.row_stride.unsigned_abs() > c.column_stride.unsigned_abs();
    let (a, b, c) = if by_rows { (a, b, c) } else { (b.transposed(), a.transposed(), c.transposed()) };
    let most = [ROWS_PER_BLOCK.min(c.rows), COLUMNS_PER_BLOCK.min(c.columns), TERMS_PER_BLOCK.min(a.columns)];
    let [mut left, mut right, mut sums] = [[0, 2], [2, 1], [0, 1]].map(|[i, j]| vec![0.0; most[i] * most[j]]);
    for column in (0..c.columns).step_by(COLUMNS_PER_BLOCK) {
        let columns = COLUMNS_PER_BLOCK.min(c.columns - column);
        for row in (0..c.rows).step_by(ROWS_PER_BLOCK) {
            let rows = ROWS_PER_BLOCK.min(c.rows - row);
            for term in (0..a.columns).step_by(TERMS_PER_BLOCK) {
                let terms = TERMS_PER_BLOCK.min(a.columns - term);
                let a = widen_matrix(a.submatrix(row, term, [rows, terms]), &mut left);
                let b = widen_matrix(b.submatrix(term, column, [terms, columns]), &mut right);
                let beta = if term == 0 { 0.0 } else { 1.0 };
                floating_point::product(
                    alpha,
                    a,
                    b,
                    beta,
                    None,
                    MatrixMut::new(&mut sums, [rows, columns], [columns, 1]).expect(BLOCK_FITS_MESSAGE),
                );
            }
            // SAFETY: blocks do not overlap.
            store_rounded(&sums, beta, &unsafe { c.submatrix(row, column, [rows, columns]) });
        }
    }
}

const BLOCK_FITS_MESSAGE: &str = "the buffer holds the largest block";

/// Writes rounded sums to `C`, added to `beta` times its entries.
fn store_rounded<T: EntryImpl<Sum = f32>>(sums: &[f32], beta: f32, c: &MatrixMut<'_, T>) {
    let columns = c.columns;
    let convert = conversion_function(DType::F32, T::DTYPE);
    thread_pool::parallel_for(0..c.rows, GRAIN_SIZE.div_ceil(columns), |rows| {
        for row in rows {
            let sums = &sums[row * columns..][..columns];
            if beta == 0.0 {
                let (from, to) = (sums.as_ptr().cast(), c.entry_pointer(row, 0).cast());
                // SAFETY: there are as many sums as the row has entries, and every row is in one piece.
                unsafe { convert(from, byte_stride::<f32>(1), to, byte_stride::<T>(c.column_stride), columns) };
                continue;
            }
            for (column, &sum) in sums.iter().enumerate() {
                // SAFETY: the indices are below the sizes, and every row is in one piece.
                unsafe { store_entry(c.entry_pointer(row, column), 1.0, sum, beta) };
            }
        }
    });
}

/// Returns the size of `elements` elements in bytes.
const fn byte_stride<T>(elements: isize) -> isize {
    elements * size_of::<T>().cast_signed()
}

/// Converts a matrix to `f32` in `buffer`, row by row or, for a column-major matrix, column by column.
fn widen_matrix<'a, T: EntryImpl<Sum = f32>>(matrix: Matrix<'_, T>, buffer: &'a mut [f32]) -> Matrix<'a, f32> {
    let by_rows = matrix.row_stride.unsigned_abs() >= matrix.column_stride.unsigned_abs();
    let lines = if by_rows { matrix } else { matrix.transposed() };
    let (sizes, strides) = (lines.sizes(), [lines.columns, 1]);
    let into = MatrixMut::new(buffer, sizes, strides).expect(BLOCK_FITS_MESSAGE);
    let convert = conversion_function(T::DTYPE, DType::F32);
    thread_pool::parallel_for(0..lines.rows, GRAIN_SIZE.div_ceil(lines.columns), |rows| {
        for row in rows {
            let (from, to) = (lines.entry_pointer(row, 0).cast(), into.entry_pointer(row, 0).cast());
            // SAFETY: both lines have as many entries, and every line is in one piece.
            unsafe { convert(from, byte_stride::<T>(lines.column_stride), to, byte_stride::<f32>(1), lines.columns) };
        }
    });
    let wide = Matrix::new(buffer, sizes, strides).expect(BLOCK_FITS_MESSAGE);
    if by_rows { wide } else { wide.transposed() }
}
