//! The matrix product by its definition, for tiny matrices.

use super::{Matrix, MatrixMut, entry::EntryImpl, store_entry};
use dispatch_runtime::Arithmetic;

#[inline]
pub(super) fn product<T: EntryImpl>(
    alpha: T::Sum,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    beta: T::Sum,
    c: &MatrixMut<'_, T>,
) {
    for row in 0..c.rows {
        for column in 0..c.columns {
            let mut sum = T::Sum::ZERO;
            for inner in 0..a.columns {
                // SAFETY: the indices are below the sizes, which the caller checked to agree, and the views have only valid entries.
                let (left, right) = unsafe { (*a.entry_pointer(row, inner), *b.entry_pointer(inner, column)) };
                sum = sum.plus(left.widen_to_sum().times(right.widen_to_sum()));
            }
            // SAFETY: the indices are below the sizes, and nothing else uses `c`.
            unsafe { store_entry(c.entry_pointer(row, column), alpha, sum, beta) };
        }
    }
}
