//! Floating products, spread over the threads.
//!
//! The `gemm` crate packs the operand that runs along `C`'s contiguous direction, and reads the other where it is. `C`
//! is therefore cut along the contiguous direction: every thread packs a part of its own, and nothing is packed twice.

use super::{GRAIN, Matrix, MatrixMut, entry::Sum};
use crate::pool;
use gemm::Parallelism;

/// A piece is a multiple of this: the micro-kernels' longest side, for the smallest entries.
const STEP: usize = 64;

pub(super) fn product<T: Sum>(alpha: T, a: Matrix<'_, T>, b: Matrix<'_, T>, beta: T, c: MatrixMut<'_, T>) {
    if c.row_stride.unsigned_abs() > c.column_stride.unsigned_abs() {
        upright(alpha, b.transposed(), a.transposed(), beta, c.transposed());
    } else {
        upright(alpha, a, b, beta, c);
    }
}

/// `C`'s columns are what is contiguous.
fn upright<T: Sum>(alpha: T, a: Matrix<'_, T>, b: Matrix<'_, T>, beta: T, c: MatrixMut<'_, T>) {
    let inner = a.columns;
    let threads = pool::num_threads();
    let worth = c.rows.saturating_mul(c.columns).saturating_mul(inner) / GRAIN;
    let pieces = threads.min(worth.max(1));
    let by_rows = c.rows >= pieces * STEP || c.rows >= c.columns;
    let (length, step) = if by_rows { (c.rows, STEP) } else { (c.columns, 6) };
    let step = if pieces == 1 { length } else { length.div_ceil(pieces).next_multiple_of(step) };
    pool::each(length.div_ceil(step), |piece| {
        let start = piece * step;
        let length = step.min(length - start);
        let (row, column, sizes) = if by_rows { (start, 0, [length, c.columns]) } else { (0, start, [c.rows, length]) };
        // SAFETY: the blocks of the pieces do not overlap.
        let c = unsafe { c.block(row, column, sizes) };
        let read = beta != T::ZERO;
        // SAFETY: the pointers are those of the first entries of blocks of the sizes given, which are the views' or
        // parts of them; the crate implements exactly the types that come here.
        unsafe {
            gemm::gemm(
                c.rows,
                c.columns,
                inner,
                c.data,
                c.column_stride,
                c.row_stride,
                read,
                a.at(row, 0),
                a.column_stride,
                a.row_stride,
                b.at(0, column),
                b.column_stride,
                b.row_stride,
                beta,
                alpha,
                false,
                false,
                false,
                Parallelism::None,
            );
        }
    });
}
