//! The matrix product by its definition, for tiny matrices.

use super::{Matrix, MatrixMut, entry::Kind, store};
use dispatch_runtime::Arithmetic;

#[inline]
pub(super) fn product<T: Kind>(alpha: T::Sum, a: Matrix<'_, T>, b: Matrix<'_, T>, beta: T::Sum, c: &MatrixMut<'_, T>) {
    for row in 0..c.rows {
        for column in 0..c.columns {
            let mut sum = T::Sum::ZERO;
            for inner in 0..a.columns {
                // SAFETY: the indices are below the sizes, which the caller checked to agree, and the views have only valid entries.
                let (left, right) = unsafe { (*a.at(row, inner), *b.at(inner, column)) };
                sum = sum.plus(left.widen().times(right.widen()));
            }
            // SAFETY: the indices are below the sizes, and nothing else uses `c`.
            unsafe { store(c.at(row, column), alpha, sum, beta) };
        }
    }
}
