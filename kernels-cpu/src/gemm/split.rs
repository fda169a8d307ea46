//! Floating products, spread over the threads.
//!
//! The `gemm` crate packs the operand that runs along `C`'s contiguous direction, and reads the other where it is. `C`
//! is therefore cut along the contiguous direction: every thread packs a part of its own, and nothing is packed twice.

use super::{GRAIN, Matrix, MatrixMut, entry::Sum};
use crate::pool;
use gemm::Parallelism;

/// A piece is a multiple of this: the micro-kernels' longest side, for the smallest entries.
const STEP: usize = 64;

/// Per thread, so that one that is late or held up is helped.
const PIECES: usize = 4;

/// What stays in the second cache when every piece reads it, in bytes.
const NEAR: usize = 1 << 20;

/// The least rows of a piece where what every piece reads does not stay near.
const WIDE: usize = 256;

/// The least columns of a piece that is cut along them: a multiple of the micro-kernels' shorter sides.
const COLUMNS: usize = 48;

pub(super) fn product<T: Sum>(alpha: T, a: Matrix<'_, T>, b: Matrix<'_, T>, beta: T, c: MatrixMut<'_, T>) {
    if c.row_stride.unsigned_abs() > c.column_stride.unsigned_abs() {
        upright(alpha, b.transposed(), a.transposed(), beta, &c.transposed());
    } else {
        upright(alpha, a, b, beta, &c);
    }
}

/// `C`'s columns are what is contiguous.
fn upright<T: Sum>(alpha: T, a: Matrix<'_, T>, b: Matrix<'_, T>, beta: T, c: &MatrixMut<'_, T>) {
    let inner = a.columns;
    let threads = pool::threads_here();
    let worth = c.rows.saturating_mul(c.columns).saturating_mul(inner) / GRAIN;
    // Every piece reads all of `b`, and packs it unless its columns are contiguous.
    let again = if b.row_stride == 1 { PIECES } else { 1 };
    let pieces = if threads == 1 { 1 } else { (threads * again).min(worth.max(1)) };
    let near = b.columns.saturating_mul(inner).saturating_mul(size_of::<T>()) <= NEAR;
    let by_rows = c.rows >= threads * STEP || c.rows >= c.columns;
    let (length, least) = match (by_rows, near) {
        (true, true) => (c.rows, STEP),
        (true, false) => (c.rows, WIDE),
        (false, _) => (c.columns, COLUMNS),
    };
    let step = length.div_ceil(pieces).max(least.min(length.div_ceil(threads))).next_multiple_of(STEP.min(least));
    let step = if pieces == 1 { length } else { step };
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
