//! Complex matrix products, computed as four real ones.
//!
//! The real and the imaginary parts of a complex matrix are real matrices in the same memory, with doubled strides.

use super::floating_point::{self, HasMicroKernel};
use super::{GRAIN_SIZE, Matrix, MatrixMut, entry::EntryImpl, store_entry};
use crate::thread_pool;
use dispatch_runtime::Arithmetic;
use num_complex::Complex;

pub(super) fn product<T: HasMicroKernel>(
    alpha: Complex<T>,
    a: Matrix<'_, Complex<T>>,
    b: Matrix<'_, Complex<T>>,
    beta: Complex<T>,
    c: &MatrixMut<'_, Complex<T>>,
) where
    Complex<T>: EntryImpl<Sum = Complex<T>> + Arithmetic,
{
    let sizes @ [rows, columns] = c.sizes();
    let [mut real, mut imaginary] = [(); 2].map(|()| vec![T::ZERO; rows * columns]);
    let (a, b) = (real_and_imaginary_parts(a), real_and_imaginary_parts(b));
    let add = |sums: &mut [T], factor, [i, j]: [usize; 2], is_first: bool| {
        let sums = MatrixMut::new(sums, sizes, [columns, 1]).expect("the buffer has an element for each entry");
        floating_point::product(factor, a[i], b[j], if is_first { T::ZERO } else { T::ONE }, None, sums);
    };
    add(&mut real, T::ONE, [0, 0], true);
    add(&mut real, T::ZERO.minus(T::ONE), [1, 1], false);
    add(&mut imaginary, T::ONE, [0, 1], true);
    add(&mut imaginary, T::ONE, [1, 0], false);
    thread_pool::parallel_for(0..rows, GRAIN_SIZE.div_ceil(columns), |piece| {
        for row in piece {
            for column in 0..columns {
                let at = row * columns + column;
                // SAFETY: the indices are below the sizes, and every row is in one piece.
                unsafe {
                    store_entry(c.entry_pointer(row, column), alpha, Complex::new(real[at], imaginary[at]), beta);
                };
            }
        }
    });
}

/// Returns the real parts and the imaginary parts of a matrix, as real matrices.
fn real_and_imaginary_parts<T>(matrix: Matrix<'_, Complex<T>>) -> [Matrix<'_, T>; 2] {
    let start = matrix.entry_pointer(0, 0).cast::<T>();
    let strides = [matrix.row_stride * 2, matrix.column_stride * 2];
    // SAFETY: a complex number is its real and its imaginary part in memory, so every entry of the views is a part of an entry of `matrix`.
    [0, 1].map(|part| unsafe { Matrix::from_raw(start.wrapping_add(part), matrix.sizes(), strides) })
}
