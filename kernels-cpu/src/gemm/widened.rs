//! Products of halves: the operands are widened to `f32` as a whole, multiplied, and each sum is rounded once.
//!
//! It costs memory for `f32` copies of all three matrices. The crate's own `f16` product would round what it has so
//! far to `f16` after every few hundred terms.

use super::{Matrix, MatrixMut, entry::Kind, split, store};
use crate::convert::conversion;
use crate::pool;
use dispatch_runtime::DType;

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
    let convert = conversion(DType::F32, T::DTYPE);
    pool::over(0..c.rows, GRAIN.div_ceil(columns), |rows| {
        for row in rows {
            let sums = &sums[row * columns..][..columns];
            if beta == 0.0 {
                // SAFETY: as many sums as the row has entries, and every row is in one piece.
                unsafe {
                    convert(
                        sums.as_ptr().cast(),
                        step::<f32>(1),
                        c.at(row, 0).cast(),
                        step::<T>(c.column_stride),
                        columns,
                    );
                }
                continue;
            }
            for (column, &sum) in sums.iter().enumerate() {
                // SAFETY: the indices are below the sizes, and every row is in one piece.
                unsafe { store(c.at(row, column), 1.0, sum, beta) };
            }
        }
    });
}

/// So many elements, in bytes.
const fn step<T>(elements: isize) -> isize {
    elements * size_of::<T>().cast_signed()
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
    let convert = conversion(T::DTYPE, DType::F32);
    pool::over(0..lines.rows, GRAIN.div_ceil(lines.columns), |rows| {
        for row in rows {
            let (from, to) = (lines.at(row, 0).cast(), into.at(row, 0).cast());
            // SAFETY: as many entries as either line has, and every line is in one piece.
            unsafe { convert(from, step::<T>(lines.column_stride), to, step::<f32>(1), lines.columns) };
        }
    });
    (sums, by_rows)
}
