//! Kernels of LDL decompositions by the pivoting of Bunch and Kaufman, and of the systems that they solve.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Complex32, Complex64};
use engine::allocation::to_usize;
use engine::compute::RealFloat;
use engine::data_movement::broadcast_to_contiguous;
use engine::math::vectorised;
use engine::reduce::with_compute_type;

use crate::lu::{check_codes, to_i32};
use crate::matrices::{column_major_expanded, for_each_piece, matrices_per_piece, matrix_sizes, update_columns};
use crate::number::{Number, RealOf};
use crate::triangular::for_each_system;

/// The bound of Bunch and Kaufman on the growth of elements, `(1 + sqrt(17)) / 8`.
const GROWTH_BOUND: f64 = 0.640_388_203_202_207_6;

#[op_impl(aten::linalg_ldl_factor_ex, CPU)]
fn linalg_ldl_factor_ex(_plan: &(), out: [&mut Tensor; 3], _: ...) -> Result<()> {
    let [factors, pivots, info] = out;
    info.write::<i32>()?.fill(0);
    let [size, _] = matrix_sizes(this);
    with_compute_type!(aten::linalg_ldl_factor_ex, factors.dtype(), T: [f32, f64, Complex32, Complex64] => {
        update_columns::<T>(factors, this, |factors| {
            let (mut pivots, mut info) = (pivots.write::<i32>()?, info.write::<i32>()?);
            let step = matrices_per_piece(info.len(), size * size * size / 3);
            let pieces = factors.chunks_mut(step * size * size).zip(pivots.chunks_mut(step * size)).zip(info.chunks_mut(step));
            for_each_piece(pieces, |((factors, pivots), info)| {
                let matrices = factors.chunks_exact_mut(size * size).zip(pivots.chunks_exact_mut(size));
                for ((matrix, pivots), info) in matrices.zip(info) {
                    let symmetry = Symmetry { is_hermitian: hermitian && T::DTYPE.is_complex() };
                    *info = symmetry.decompose(matrix, size, pivots).map_or(0, |index| to_i32(index + 1));
                    for (column, elements) in matrix.chunks_exact_mut(size).enumerate() {
                        elements[..column].fill(T::ZERO);
                    }
                }
            });
            Ok(())
        })
    })?;
    check_codes(info, "linalg_ldl_factor_ex", check_errors)
}

#[op_impl(aten::linalg_ldl_solve, CPU)]
fn linalg_ldl_solve(_plan: &(), out: &mut Tensor, _: ...) -> Result<()> {
    if out.geometry().count() == 0 {
        return Ok(());
    }
    let [size, _] = matrix_sizes(out);
    let batch = &out.sizes()[..out.sizes().len() - 2];
    let pivot_sizes = [batch, &pivots.sizes()[pivots.sizes().len() - 1..]].concat();
    let pivots = broadcast_to_contiguous("pivots", pivots, DType::I32, &pivot_sizes)?.to_vec::<i32>()?;
    for pivots in pivots.chunks_exact(size) {
        check_pivots(pivots)?;
    }
    with_compute_type!(aten::linalg_ldl_solve, out.dtype(), T: [f32, f64, Complex32, Complex64] => {
        let factors = column_major_expanded(LD, out)?;
        let factors = factors.read::<T>()?;
        let symmetry = Symmetry { is_hermitian: hermitian && T::DTYPE.is_complex() };
        update_columns::<T>(out, B, |x| {
            for_each_system(&factors, size, x, |matrix, factor, x| {
                let pivots = &pivots[matrix * size..][..size];
                x.chunks_exact_mut(size).for_each(|x| symmetry.solve(factor, pivots, x));
            });
            Ok(())
        })
    })
}

/// Refuses pivots that no decomposition returns: a pivot is a row, and both pivots of a block of size 2 are the same negative number.
fn check_pivots(pivots: &[i32]) -> Result<()> {
    let mut step = 0;
    while step < pivots.len() {
        let (pivot, width) = (pivots[step], if pivots[step] < 0 { 2 } else { 1 });
        let is_row = (1..=pivots.len()).contains(&to_usize(i64::from(pivot).abs()));
        if !is_row || pivots.get(step + width - 1) != Some(&pivot) {
            let expected = "a row of the matrix, or its negative twice, as `linalg_ldl_factor` returns them";
            return Err(BadArgument::value("pivots", pivot, expected).into());
        }
        step += width;
    }
    Ok(())
}

/// Returns the row of a pivot.
fn row_of(pivot: i32) -> usize {
    to_usize(i64::from(pivot).abs()) - 1
}

/// The relation of a matrix with its transpose: it is symmetric, or Hermitian.
#[derive(Clone, Copy)]
struct Symmetry {
    is_hermitian: bool,
}

impl Symmetry {
    /// Returns the element at the mirrored position.
    #[inline(always)]
    fn mirror<T: Number>(self, x: T) -> T {
        if self.is_hermitian { x.conjugate() } else { x }
    }

    /// Returns the value of an element of the diagonal, which is real in a Hermitian matrix.
    #[inline(always)]
    fn diagonal<T: Number>(self, x: T) -> T {
        if self.is_hermitian { T::from_real(x.real()) } else { x }
    }

    /// Decomposes the lower triangle of a column-major matrix in place. Returns the index of the first column of zeros.
    fn decompose<T: Number>(self, matrix: &mut [T], size: usize, pivots: &mut [i32]) -> Option<usize> {
        vectorised(
            #[inline(always)]
            || {
                let (mut step, mut first_zero) = (0, None);
                while step < size {
                    let Some((row, width)) = self.choose_pivot(matrix, size, step) else {
                        first_zero = first_zero.or(Some(step));
                        let at = step * (size + 1);
                        matrix[at] = self.diagonal(matrix[at]);
                        pivots[step] = to_i32(step + 1);
                        step += 1;
                        continue;
                    };
                    self.exchange(matrix, size, step, row, width);
                    if width == 1 {
                        pivots[step] = to_i32(row + 1);
                        self.eliminate_one(matrix, size, step);
                    } else {
                        pivots[step..step + 2].fill(-to_i32(row + 1));
                        self.eliminate_two(matrix, size, step);
                    }
                    step += width;
                }
                first_zero
            },
        )
    }

    /// Returns the row of the next pivot and the size of its block; nothing if the column is zero.
    #[inline(always)]
    fn choose_pivot<T: Number>(self, matrix: &[T], size: usize, step: usize) -> Option<(usize, usize)> {
        let bound = RealOf::<T>::from_f64(GROWTH_BOUND);
        let zero = RealOf::<T>::ZERO;
        let at = |row: usize, column: usize| matrix[column * size + row].magnitude_sum();
        let own = |row: usize| self.diagonal(matrix[row * (size + 1)]).magnitude_sum();
        // As in LAPACK, a first element that is NaN is the largest.
        let largest = |values: &mut dyn Iterator<Item = RealOf<T>>| {
            values.reduce(|largest, x| if x > largest { x } else { largest }).unwrap_or(zero)
        };
        let diagonal = own(step);
        let (mut row, mut below) = (step, zero);
        for candidate in step + 1..size {
            if candidate == step + 1 || at(candidate, step) > below {
                (row, below) = (candidate, at(candidate, step));
            }
        }
        if (diagonal == zero || diagonal.is_nan()) && below == zero {
            return None;
        }
        if diagonal >= bound * below {
            return Some((step, 1));
        }
        let across = largest(&mut (step..row).map(|column| at(row, column)));
        let down = largest(&mut (row + 1..size).map(|other| at(other, row)));
        let of_row = if down > across { down } else { across };
        if diagonal >= bound * below * (below / of_row) {
            Some((step, 1))
        } else if own(row) >= bound * of_row {
            Some((row, 1))
        } else {
            Some((row, 2))
        }
    }

    /// Exchanges a row and column with those of the last row of the block at `step`.
    #[inline(always)]
    fn exchange<T: Number>(self, matrix: &mut [T], size: usize, step: usize, row: usize, width: usize) {
        let last = step + width - 1;
        if row != last {
            for below in row + 1..size {
                matrix.swap(last * size + below, row * size + below);
            }
            for between in last + 1..row {
                let (down, across) = (last * size + between, between * size + row);
                (matrix[down], matrix[across]) = (self.mirror(matrix[across]), self.mirror(matrix[down]));
            }
            matrix[last * size + row] = self.mirror(matrix[last * size + row]);
            matrix.swap(last * (size + 1), row * (size + 1));
            if width == 2 {
                matrix.swap(step * size + step + 1, step * size + row);
            }
        }
        for at in [step, last, row] {
            matrix[at * (size + 1)] = self.diagonal(matrix[at * (size + 1)]);
        }
    }

    /// Eliminates a column by its diagonal element.
    #[inline(always)]
    fn eliminate_one<T: Number>(self, matrix: &mut [T], size: usize, step: usize) {
        let (left, right) = matrix.split_at_mut((step + 1) * size);
        let column = &mut left[step * size + step..];
        let reciprocal = T::ONE.divided(column[0]);
        let column = &mut column[1..];
        for (index, other) in right.chunks_exact_mut(size).enumerate() {
            let other = &mut other[step + 1 + index..];
            let factor = self.mirror(column[index]).times(reciprocal);
            for (x, &y) in other.iter_mut().zip(&column[index..]) {
                *x = x.minus(factor.times(y));
            }
            other[0] = self.diagonal(other[0]);
        }
        for x in column.iter_mut() {
            *x = x.times(reciprocal);
        }
    }

    /// Eliminates two columns by the block of their diagonal elements.
    #[inline(always)]
    fn eliminate_two<T: Number>(self, matrix: &mut [T], size: usize, step: usize) {
        if step + 2 >= size {
            return;
        }
        let corner = matrix[step * size + step + 1];
        let mirrored = self.mirror(corner);
        // The elements of the inverse of the block, times its element below the diagonal.
        let first = matrix[(step + 1) * (size + 1)].divided(corner);
        let second = matrix[step * (size + 1)].divided(mirrored);
        let scale = T::ONE.divided(first.times(second).minus(T::ONE));
        let (left, right) = matrix.split_at_mut((step + 2) * size);
        let (columns, next) = left[step * size..].split_at_mut(size);
        let (columns, next) = (&mut columns[step + 2..], &mut next[step + 2..]);
        for (index, other) in right.chunks_exact_mut(size).enumerate() {
            let other = &mut other[step + 2 + index..];
            let (a, b) = (columns[index], next[index]);
            let of_first = first.times(a).minus(b).times(scale).divided(mirrored);
            let of_second = second.times(b).minus(a).times(scale).divided(corner);
            let (x_factor, y_factor) = (self.mirror(of_first), self.mirror(of_second));
            for ((z, &x), &y) in other.iter_mut().zip(&columns[index..]).zip(&next[index..]) {
                *z = z.minus(x.times(x_factor)).minus(y.times(y_factor));
            }
            other[0] = self.diagonal(other[0]);
            (columns[index], next[index]) = (of_first, of_second);
        }
    }

    /// Solves a system for one column, in place.
    fn solve<T: Number>(self, factor: &[T], pivots: &[i32], x: &mut [T]) {
        let size = x.len();
        let mut step = 0;
        while step < size {
            let pivot = pivots[step];
            let width = if pivot > 0 { 1 } else { 2 };
            x.swap(step + width - 1, row_of(pivot));
            for column in step..step + width {
                let known = x[column];
                for row in step + width..size {
                    x[row] = x[row].minus(known.times(factor[column * size + row]));
                }
            }
            if width == 1 {
                x[step] = x[step].divided(self.diagonal(factor[step * (size + 1)]));
            } else {
                let corner = factor[step * size + step + 1];
                let mirrored = self.mirror(corner);
                let first = factor[step * (size + 1)].divided(mirrored);
                let second = factor[(step + 1) * (size + 1)].divided(corner);
                let determinant = first.times(second).minus(T::ONE);
                let (above, below) = (x[step].divided(mirrored), x[step + 1].divided(corner));
                x[step] = second.times(above).minus(below).divided(determinant);
                x[step + 1] = first.times(below).minus(above).divided(determinant);
            }
            step += width;
        }
        while step > 0 {
            let pivot = pivots[step - 1];
            let width = if pivot > 0 { 1 } else { 2 };
            for column in step - width..step {
                for row in step..size {
                    x[column] = x[column].minus(self.mirror(factor[column * size + row]).times(x[row]));
                }
            }
            x.swap(step - 1, row_of(pivot));
            step -= width;
        }
    }
}
