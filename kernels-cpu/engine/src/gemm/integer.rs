//! Integer matrix products. A few rows and a block of columns of `C` are computed at a time, in registers and the L1 cache.

use super::{GRAIN_SIZE, Matrix, MatrixMut, entry::Accumulator, store_entry};
use crate::math::vectorised;
use crate::thread_pool;
use std::borrow::Cow;

const ROWS_PER_BLOCK: usize = 4;
const COLUMNS_PER_BLOCK: usize = 128;

#[expect(clippy::needless_pass_by_value, reason = "the caller gives up the exclusive view")]
pub(super) fn product<T: Accumulator>(alpha: T, a: Matrix<'_, T>, b: Matrix<'_, T>, beta: T, c: MatrixMut<'_, T>) {
    let lines: Vec<Cow<'_, [T]>> = (0..b.rows)
        .map(|row| {
            if b.column_stride == 1 {
                // SAFETY: a row's entries are valid, and with this stride contiguous.
                Cow::Borrowed(unsafe { std::slice::from_raw_parts(b.entry_pointer(row, 0), b.columns) })
            } else {
                // SAFETY: the indices are below the sizes.
                (0..b.columns).map(|column| unsafe { *b.entry_pointer(row, column) }).collect()
            }
        })
        .collect();
    let grain = GRAIN_SIZE.div_ceil(b.columns.saturating_mul(b.rows).max(1)).next_multiple_of(ROWS_PER_BLOCK);
    thread_pool::parallel_for(0..c.rows, grain, |rows| {
        for row in rows.clone().step_by(ROWS_PER_BLOCK) {
            let height = ROWS_PER_BLOCK.min(rows.end - row);
            for column in (0..c.columns).step_by(COLUMNS_PER_BLOCK) {
                let width = COLUMNS_PER_BLOCK.min(c.columns - column);
                let sums = vectorised!(block_sums(a.submatrix(row, 0, [height, a.columns]), &lines, column, width));
                for (down, sums) in sums[..height].iter().enumerate() {
                    for (right, &sum) in sums[..width].iter().enumerate() {
                        // SAFETY: the indices are below the sizes, and every row is in one piece.
                        unsafe { store_entry(c.entry_pointer(row + down, column + right), alpha, sum, beta) };
                    }
                }
            }
        }
    });
}

#[inline(always)]
fn block_sums<T: Accumulator>(
    a: Matrix<'_, T>,
    lines: &[Cow<'_, [T]>],
    column: usize,
    width: usize,
) -> [[T; COLUMNS_PER_BLOCK]; ROWS_PER_BLOCK] {
    let mut sums = [[T::ZERO; COLUMNS_PER_BLOCK]; ROWS_PER_BLOCK];
    for (inner, line) in lines.iter().enumerate() {
        let line = &line[column..column + width];
        for (row, sums) in sums[..a.rows].iter_mut().enumerate() {
            // SAFETY: the indices are below the sizes.
            let factor = unsafe { *a.entry_pointer(row, inner) };
            for (sum, &entry) in sums.iter_mut().zip(line) {
                *sum = sum.plus(factor.times(entry));
            }
        }
    }
    sums
}
