//! The product by its definition, for what is too small for anything else.

use super::{Matrix, MatrixMut, entry::Kind, store};
use dispatch_runtime::Arithmetic;

#[inline]
pub(super) fn product<T: Kind>(alpha: T::Sum, a: Matrix<'_, T>, b: Matrix<'_, T>, beta: T::Sum, c: &MatrixMut<'_, T>) {
    for row in 0..c.rows {
        for column in 0..c.columns {
            let mut sum = T::Sum::ZERO;
            for inner in 0..a.columns {
                // SAFETY: the indices are below the sizes, which the caller found to agree, of views of valid entries.
                let (left, right) = unsafe { (*a.at(row, inner), *b.at(inner, column)) };
                sum = sum.plus(left.widen().times(right.widen()));
            }
            // SAFETY: as above, and `c` is ours alone.
            unsafe { store(c.at(row, column), alpha, sum, beta) };
        }
    }
}
