//! Complex matrix products, computed as four real ones.
//!
//! The real and the imaginary parts of a complex matrix are real matrices in the same memory, with doubled strides.

use super::split::{self, Real};
use super::{GRAIN, Matrix, MatrixMut, entry::Kind, store};
use crate::thread_pool;
use dispatch_runtime::Arithmetic;
use num_complex::Complex;

pub(super) fn product<T: Real>(
    alpha: Complex<T>,
    a: Matrix<'_, Complex<T>>,
    b: Matrix<'_, Complex<T>>,
    beta: Complex<T>,
    c: &MatrixMut<'_, Complex<T>>,
) where
    Complex<T>: Kind<Sum = Complex<T>> + Arithmetic,
{
    let sizes @ [rows, columns] = c.sizes();
    let [mut real, mut imaginary] = [(); 2].map(|()| vec![T::ZERO; rows * columns]);
    let (a, b) = (parts(a), parts(b));
    let add = |sums: &mut [T], factor, [i, j]: [usize; 2], is_first: bool| {
        let sums = MatrixMut::new(sums, sizes, [columns, 1]).expect("as many sums as entries");
        split::product(factor, a[i], b[j], if is_first { T::ZERO } else { T::ONE }, sums);
    };
    add(&mut real, T::ONE, [0, 0], true);
    add(&mut real, T::ZERO.minus(T::ONE), [1, 1], false);
    add(&mut imaginary, T::ONE, [0, 1], true);
    add(&mut imaginary, T::ONE, [1, 0], false);
    thread_pool::parallel_for(0..rows, GRAIN.div_ceil(columns), |piece| {
        for row in piece {
            for column in 0..columns {
                let at = row * columns + column;
                // SAFETY: the indices are below the sizes, and every row is in one piece.
                unsafe { store(c.at(row, column), alpha, Complex::new(real[at], imaginary[at]), beta) };
            }
        }
    });
}

/// Returns the real parts and the imaginary parts of a matrix, as real matrices.
fn parts<T>(matrix: Matrix<'_, Complex<T>>) -> [Matrix<'_, T>; 2] {
    let start = matrix.at(0, 0).cast::<T>();
    let strides = [matrix.row_stride * 2, matrix.column_stride * 2];
    // SAFETY: a complex number is its real and its imaginary part in memory, so every entry of the views is a part of an entry of `matrix`.
    [0, 1].map(|part| unsafe { Matrix::from_raw(start.wrapping_add(part), matrix.sizes(), strides) })
}
