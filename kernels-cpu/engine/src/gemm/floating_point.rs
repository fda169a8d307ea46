//! Floating-point matrix products, divided among threads.
//!
//! The micro-kernels are those of the crates `gemm-f32` and `gemm-f64`. (The crate `gemm` over them would also compile complex
//! micro-kernels, which takes longer than both.) A micro-kernel packs the operand that runs along `C`'s contiguous direction and reads the
//! other in place. So `C` is cut along the contiguous direction: every thread packs its own part, and nothing is packed twice. Two
//! decisions are made here that the crates cannot make. Packing is left out if the operand's columns are close enough to be read in place.
//! And a small result is transposed instead of a large operand.

use super::{GRAIN_SIZE, Matrix, MatrixMut, entry::Accumulator, view::copy_entries};
use crate::thread_pool;
use gemm_common::Parallelism;
use gemm_common::gemm as settings;

/// A micro-kernel: computes `C = beta C + alpha A B` for a column-major `C`. The parameters are the sizes of `C` and the number of terms of
/// a sum; `C` with its column and row strides, and whether it is read; `A` and `B` with theirs; `beta` and `alpha`; whether `C`, `A` and
/// `B` are conjugated (always false here); and the threads.
type MicroKernel<T> = unsafe fn(
    usize,
    usize,
    usize,
    *mut T,
    isize,
    isize,
    bool,
    *const T,
    isize,
    isize,
    *const T,
    isize,
    isize,
    T,
    T,
    bool,
    bool,
    bool,
    Parallelism,
);

/// A floating-point type with micro-kernels.
pub(super) trait HasMicroKernel: Accumulator {
    /// Returns the micro-kernel for this machine.
    fn micro_kernel() -> MicroKernel<Self>;
}

impl HasMicroKernel for f32 {
    #[inline]
    fn micro_kernel() -> MicroKernel<Self> {
        gemm_f32::gemm::f32::get_gemm_fn()
    }
}

impl HasMicroKernel for f64 {
    #[inline]
    fn micro_kernel() -> MicroKernel<Self> {
        gemm_f64::gemm::f64::get_gemm_fn()
    }
}

/// The number of which the size of a piece is a multiple: the longest side of a micro-kernel's tile, for the smallest entries.
const PIECE_SIZE_MULTIPLE: usize = 64;

/// The number of pieces per thread: more than one, so that other threads can help a delayed one.
const PIECES_PER_THREAD: usize = 4;

/// The largest operand, in bytes, that stays in the L2 cache if every piece reads it.
const MAX_L2_OPERAND_BYTES: usize = 1 << 20;

/// The size in bytes of a piece of `C` that stays in the L2 cache, beside the operands, from the copy of the summand on.
const MAX_SUMMAND_PIECE_BYTES: usize = 1 << 18;

/// The fewest rows of a piece if the operand that every piece reads does not fit the L2 cache.
const MIN_PIECE_ROWS_BEYOND_L2: usize = 256;

/// The largest distance between columns, in bytes, at which an operand is read in place. At larger distances the columns share too few sets
/// of the caches.
const MAX_UNPACKED_STRIDE_BYTES: usize = 3072;

/// The fewest columns of a piece if `C` is cut along its columns: a multiple of the shorter sides of the micro-kernels' tiles.
const MIN_PIECE_COLUMNS: usize = 48;

/// Computes `C = alpha A B + beta S`. Without a summand `S`, it is `C` itself.
pub(super) fn product<T: HasMicroKernel>(
    alpha: T,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    beta: T,
    summand: Option<Matrix<'_, T>>,
    c: MatrixMut<'_, T>,
) {
    let by_rows = c.row_stride.unsigned_abs() > c.column_stride.unsigned_abs();
    let (a, b, c) = if by_rows { (b.transposed(), a.transposed(), c.transposed()) } else { (a, b, c) };
    let summand = if by_rows { summand.map(Matrix::transposed) } else { summand };
    if transposed_element_count(a) / 2
        > transposed_element_count(b.transposed()).saturating_add(c.rows.saturating_mul(c.columns).saturating_mul(2))
    {
        if let Some(summand) = summand {
            copy_entries(summand, &c);
        }
        product_by_transposition(alpha, a, b, beta, &c);
    } else {
        column_major_product(alpha, a, b, beta, summand, &c);
    }
}

/// Computes the transposed product and transposes the result, for calls for which that is cheaper than transposing the left operand.
fn product_by_transposition<T: HasMicroKernel>(
    alpha: T,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    beta: T,
    c: &MatrixMut<'_, T>,
) {
    const TILE_SIZE: usize = 16;
    let (rows, columns) = (c.rows, c.columns);
    let mut sums = vec![T::ZERO; rows * columns];
    let into =
        MatrixMut::new(&mut sums, [columns, rows], [1, columns]).expect("the buffer has an element for each entry");
    column_major_product(alpha, b.transposed(), a.transposed(), T::ZERO, None, &into);
    thread_pool::parallel_for(
        0..columns,
        (GRAIN_SIZE / 4).div_ceil(rows.max(1)).next_multiple_of(TILE_SIZE),
        |piece| {
            for first in piece.clone().step_by(TILE_SIZE) {
                let width = TILE_SIZE.min(piece.end - first);
                for (block, lines) in sums.chunks(TILE_SIZE * columns).enumerate() {
                    // Transposes column by column, so that every cache line of `C` is written at once, even if many of them share a set of
                    // the cache.
                    for column in first..first + width {
                        for (row, line) in lines.chunks_exact(columns).enumerate() {
                            let sum = line[column];
                            // SAFETY: the indices are below the sizes, and every column is in one piece.
                            unsafe {
                                let entry = c.entry_pointer(block * TILE_SIZE + row, column);
                                *entry = if beta == T::ZERO { sum } else { sum.plus(beta.times(*entry)) };
                            }
                        }
                    }
                }
            }
        },
    );
}

/// Returns the number of elements of a left operand that packing transposes.
fn transposed_element_count<T>(a: Matrix<'_, T>) -> usize {
    if a.row_stride == 1 { 0 } else { a.rows.saturating_mul(a.columns) }
}

/// Tells the `gemm` crates whether to pack the left operand. The setting is global to the process and affects only speed.
fn configure_packing<T>(a: Matrix<'_, T>) {
    let close = a.column_stride.unsigned_abs().saturating_mul(size_of::<T>()) <= MAX_UNPACKED_STRIDE_BYTES;
    let columns = if close { 256 } else { settings::DEFAULT_LHS_PACKING_THRESHOLD_SINGLE_THREAD };
    if settings::get_lhs_packing_threshold_single_thread() != columns {
        settings::set_lhs_packing_threshold_single_thread(columns);
    }
}

/// Computes the product for a `C` with contiguous columns.
fn column_major_product<T: HasMicroKernel>(
    alpha: T,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    beta: T,
    summand: Option<Matrix<'_, T>>,
    c: &MatrixMut<'_, T>,
) {
    let inner = a.columns;
    let threads = thread_pool::region_thread_count();
    let useful_pieces = c.rows.saturating_mul(c.columns).saturating_mul(inner) / GRAIN_SIZE;
    // Every piece reads all of `b`, and packs it unless its columns are contiguous.
    let again = if b.row_stride == 1 { PIECES_PER_THREAD } else { 1 };
    let mut pieces = if threads == 1 { 1 } else { (threads * again).min(useful_pieces.max(1)) };
    if summand.is_some() && b.row_stride == 1 {
        pieces = pieces.max(c.rows.saturating_mul(c.columns).saturating_mul(size_of::<T>()) / MAX_SUMMAND_PIECE_BYTES);
    }
    let fits_l2 = b.columns.saturating_mul(inner).saturating_mul(size_of::<T>()) <= MAX_L2_OPERAND_BYTES;
    let by_rows = c.rows >= threads * PIECE_SIZE_MULTIPLE || c.rows >= c.columns;
    let (length, min_length) = match (by_rows, fits_l2) {
        (true, true) => (c.rows, PIECE_SIZE_MULTIPLE),
        (true, false) => (c.rows, MIN_PIECE_ROWS_BEYOND_L2),
        (false, _) => (c.columns, MIN_PIECE_COLUMNS),
    };
    let step = length
        .div_ceil(pieces)
        .max(min_length.min(length.div_ceil(threads)))
        .next_multiple_of(PIECE_SIZE_MULTIPLE.min(min_length));
    let step = if pieces == 1 { length } else { step };
    configure_packing(a);
    thread_pool::parallel_each(length.div_ceil(step), |piece| {
        let start = piece * step;
        let length = step.min(length - start);
        let (row, column, sizes) = if by_rows { (start, 0, [length, c.columns]) } else { (0, start, [c.rows, length]) };
        // SAFETY: the blocks of the pieces do not overlap.
        let c = unsafe { c.submatrix(row, column, sizes) };
        if let Some(summand) = summand {
            copy_entries(summand.submatrix(row, column, sizes), &c);
        }
        let read = beta != T::ZERO;
        // SAFETY: the pointers are those of the first entries of blocks of the given sizes, which are the views or blocks of them.
        unsafe {
            T::micro_kernel()(
                c.rows,
                c.columns,
                inner,
                c.data,
                c.column_stride,
                c.row_stride,
                read,
                a.entry_pointer(row, 0),
                a.column_stride,
                a.row_stride,
                b.entry_pointer(0, column),
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
