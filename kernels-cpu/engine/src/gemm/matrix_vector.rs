//! Matrix-vector products. Each entry of the matrix is used once, so the loops follow the matrix's memory layout.

use super::{Matrix, MatrixMut, entry::EntryImpl, store_entry};
use crate::math::vectorised;
use crate::thread_pool;
use dispatch_runtime::Arithmetic;
use std::borrow::Cow;

/// The fewest entries of the matrix that are worth a thread.
const GRAIN_SIZE: usize = 1 << 15;

/// The number of rows whose sums are accumulated at a time.
const ROWS_PER_BLOCK: usize = 1024;

/// The fewest rows of a column that a thread reads in a row.
const MIN_ROWS_PER_PIECE: usize = 512;

/// The number of independent sums per row.
const LANE_COUNT: usize = 16;

/// Computes the product with a vector: `b` and `c` have one column.
pub(super) fn product<T: EntryImpl>(
    alpha: T::Sum,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    beta: T::Sum,
    c: &MatrixMut<'_, T>,
) {
    let vector = if b.row_stride == 1 {
        // SAFETY: the entries are valid, and with this stride contiguous.
        T::as_sums(unsafe { std::slice::from_raw_parts(b.data, b.rows) })
    } else {
        None
    };
    let vector = vector.map_or_else(
        // SAFETY: the index is below the size.
        || (0..b.rows).map(|row| unsafe { *b.entry_pointer(row, 0) }.widen_to_sum()).collect(),
        Cow::Borrowed,
    );
    let grain = GRAIN_SIZE.div_ceil(a.columns.max(1)).max(if a.column_stride == 1 { 1 } else { MIN_ROWS_PER_PIECE });
    thread_pool::parallel_for(0..c.rows, grain, |rows| {
        for row in rows.clone().step_by(ROWS_PER_BLOCK) {
            let height = ROWS_PER_BLOCK.min(rows.end - row);
            let mut sums = [T::Sum::ZERO; ROWS_PER_BLOCK];
            let sums = &mut sums[..height];
            let a = a.submatrix(row, 0, [height, a.columns]);
            if a.column_stride == 1 {
                vectorised!(add_row_products(a, &vector, sums));
            } else {
                vectorised!(add_column_products(a, &vector, sums));
            }
            for (down, &sum) in sums.iter().enumerate() {
                // SAFETY: the index is below the size, and every row is in one piece.
                unsafe { store_entry(c.entry_pointer(row + down, 0), alpha, sum, beta) };
            }
        }
    });
}

#[inline(always)]
fn add_row_products<T: EntryImpl>(a: Matrix<'_, T>, vector: &[T::Sum], sums: &mut [T::Sum]) {
    const ROWS_PER_GROUP: usize = 8;
    // SAFETY: a row's entries are valid, and the caller checked that they are contiguous.
    let line = |row| unsafe { std::slice::from_raw_parts(a.entry_pointer(row, 0), vector.len()) };
    let (groups, rest) = sums.as_chunks_mut::<ROWS_PER_GROUP>();
    for (group, sums) in groups.iter_mut().enumerate() {
        *sums =
            dot_products(std::array::from_fn::<_, ROWS_PER_GROUP, _>(|row| line(group * ROWS_PER_GROUP + row)), vector);
    }
    for (row, sum) in rest.iter_mut().enumerate() {
        [*sum] = dot_products([line(groups.len() * ROWS_PER_GROUP + row)], vector);
    }
}

#[inline(always)]
fn dot_products<T: EntryImpl, const ROWS: usize>(lines: [&[T]; ROWS], vector: &[T::Sum]) -> [T::Sum; ROWS] {
    let mut partial = [[T::Sum::ZERO; LANE_COUNT]; ROWS];
    let (chunks, rest) = vector.as_chunks::<LANE_COUNT>();
    let heads = lines.map(|line| &line.as_chunks::<LANE_COUNT>().0[..chunks.len()]);
    for (index, chunk) in chunks.iter().enumerate() {
        for row in 0..ROWS {
            for lane in 0..LANE_COUNT {
                partial[row][lane] = partial[row][lane].plus(heads[row][index][lane].widen_to_sum().times(chunk[lane]));
            }
        }
    }
    let mut sums = [T::Sum::ZERO; ROWS];
    for row in 0..ROWS {
        let tail = &lines[row][chunks.len() * LANE_COUNT..];
        sums[row] = partial[row].into_iter().fold(T::Sum::ZERO, Arithmetic::plus);
        for (entry, &x) in tail.iter().zip(rest) {
            sums[row] = sums[row].plus(entry.widen_to_sum().times(x));
        }
    }
    sums
}

#[inline(always)]
fn add_column_products<T: EntryImpl>(matrix: Matrix<'_, T>, vector: &[T::Sum], sums: &mut [T::Sum]) {
    if matrix.row_stride != 1 {
        for (inner, &x) in vector.iter().enumerate() {
            for (row, sum) in sums.iter_mut().enumerate() {
                // SAFETY: the indices are below the sizes.
                *sum = sum.plus(unsafe { *matrix.entry_pointer(row, inner) }.widen_to_sum().times(x));
            }
        }
        return;
    }
    let height = sums.len();
    // SAFETY: a column's entries are valid, and with this stride contiguous.
    let line = |inner| unsafe { std::slice::from_raw_parts(matrix.entry_pointer(0, inner), height) };
    let (groups, rest) = vector.as_chunks::<4>();
    for (group, factors) in groups.iter().enumerate() {
        let lines: [_; 4] = std::array::from_fn(|inner| line(group * 4 + inner));
        for (row, sum) in sums.iter_mut().enumerate() {
            let term = |inner: usize| lines[inner][row].widen_to_sum().times(factors[inner]);
            *sum = sum.plus(term(0).plus(term(1)).plus(term(2).plus(term(3))));
        }
    }
    for (inner, &x) in rest.iter().enumerate() {
        for (sum, entry) in sums.iter_mut().zip(line(groups.len() * 4 + inner)) {
            *sum = sum.plus(entry.widen_to_sum().times(x));
        }
    }
}
