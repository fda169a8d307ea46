//! Products of halves: the operands are widened to `f32` as a whole, multiplied, and each sum is rounded once.
//!
//! It costs memory for `f32` copies of all three matrices. The crate's own `f16` product would round what it has so
//! far to `f16` after every few hundred terms.

use super::{Matrix, MatrixMut, entry::Kind, split, store};
use crate::pool;
use pulp::Arch;

/// Elements that are worth a thread.
const GRAIN: usize = 1 << 15;

pub(super) fn product<T: Kind<Sum = f32>>(
    alpha: f32,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    beta: f32,
    c: MatrixMut<'_, T>,
) {
    let (a_sums, a_by_rows) = widen(a);
    let (b_sums, b_by_rows) = widen(b);
    let mut sums = vec![0.0; c.rows * c.columns];
    let by_rows = c.row_stride.unsigned_abs() > c.column_stride.unsigned_abs();
    let c = if by_rows { c } else { c.transposed() };
    {
        let (a, b) = (dense(&a_sums, a.sizes(), a_by_rows), dense(&b_sums, b.sizes(), b_by_rows));
        let (a, b) = if by_rows { (a, b) } else { (b.transposed(), a.transposed()) };
        let sums = MatrixMut::new(&mut sums, c.sizes(), [c.columns, 1]).expect("as many sums as entries");
        split::product(alpha, a, b, 0.0, sums);
    }
    let (columns, sums) = (c.columns, &sums);
    pool::over(0..c.rows, GRAIN.div_ceil(columns), |rows| {
        for row in rows {
            for (column, &sum) in sums[row * columns..][..columns].iter().enumerate() {
                // SAFETY: the indices are below the sizes, and every row is in one piece.
                unsafe { store(c.at(row, column), 1.0, sum, beta) };
            }
        }
    });
}

fn dense(sums: &[f32], [rows, columns]: [usize; 2], by_rows: bool) -> Matrix<'_, f32> {
    let strides = if by_rows { [columns, 1] } else { [1, rows] };
    Matrix::new(sums, [rows, columns], strides).expect("as many sums as entries")
}

/// All entries as `f32`, row by row or, where they lie that way, column by column.
fn widen<T: Kind<Sum = f32>>(matrix: Matrix<'_, T>) -> (Vec<f32>, bool) {
    let by_rows = matrix.row_stride.unsigned_abs() >= matrix.column_stride.unsigned_abs();
    let lines = if by_rows { matrix } else { matrix.transposed() };
    let mut sums = vec![0.0; lines.rows * lines.columns];
    let into = MatrixMut::new(&mut sums, lines.sizes(), [lines.columns, 1]).expect("as many sums as entries");
    pool::over(0..lines.rows, GRAIN.div_ceil(lines.columns), |rows| {
        for row in rows {
            // SAFETY: a line of `into` is contiguous, and every line is in one piece.
            let into = unsafe { std::slice::from_raw_parts_mut(into.at(row, 0), lines.columns) };
            if lines.column_stride == 1 {
                // SAFETY: the entries of a line are valid, and with this stride contiguous.
                let line = unsafe { std::slice::from_raw_parts(lines.at(row, 0), lines.columns) };
                Arch::new().dispatch(
                    #[inline(always)]
                    || into.iter_mut().zip(line).for_each(|(sum, entry)| *sum = entry.widen()),
                );
            } else {
                for (column, sum) in into.iter_mut().enumerate() {
                    // SAFETY: the indices are below the sizes.
                    *sum = unsafe { *lines.at(row, column) }.widen();
                }
            }
        }
    });
    (sums, by_rows)
}
