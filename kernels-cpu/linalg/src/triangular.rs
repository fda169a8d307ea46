//! Kernels of triangular systems.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Complex32, Complex64, Operation};
use engine::math::vectorised;
use engine::reduce::with_compute_type;
use faer::Conj;

use crate::blocks::{Triangle, columns_per_thread, solve_triangle, view, view_mut};
use crate::matrices::{
    column_major_expanded, for_each_piece, matrices_per_piece, matrix_sizes, transposed, update_columns,
};
use crate::number::Number;

/// The largest matrix whose systems are solved row by row.
const MAX_UNBLOCKED_SIZE: usize = 32;

/// The number of columns that are solved together, as the lanes of vectors.
const LANES: usize = 8;

/// The form in which a matrix takes part in a system.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct MatrixForm {
    /// The matrix is replaced by its transpose.
    pub(crate) is_transposed: bool,
    /// The matrix is replaced by its conjugate.
    pub(crate) is_conjugate: bool,
}

impl MatrixForm {
    /// The matrix itself.
    pub(crate) const PLAIN: Self = Self { is_transposed: false, is_conjugate: false };
    /// The conjugate transpose.
    pub(crate) const ADJOINT: Self = Self { is_transposed: true, is_conjugate: true };
}

#[op_impl(aten::linalg_solve_triangular, CPU)]
fn linalg_solve_triangular(_plan: &(), out: &mut Tensor, _: ...) -> Result<()> {
    let triangle = Triangle { is_upper: upper, has_unit_diagonal: unitriangular };
    solve_batch::<aten::linalg_solve_triangular>(this, B, triangle, MatrixForm::PLAIN, left, out)
}

#[op_impl(aten::triangular_solve, CPU)]
fn triangular_solve(_plan: &(), out: [&mut Tensor; 2], _: ...) -> Result<()> {
    let [solution, coefficients] = out;
    let triangle = Triangle { is_upper: upper, has_unit_diagonal: unitriangular };
    let form = MatrixForm { is_transposed: transpose, is_conjugate: false };
    solve_batch::<aten::triangular_solve>(A, this, triangle, form, true, solution)?;
    engine::data_movement::copy_elements(coefficients, A)
}

/// Solves `form(a) x = b`, or `x form(a) = b`, for every matrix of a batch. The batch dimensions broadcast.
pub(crate) fn solve_batch<O: Operation>(
    a: &Tensor,
    b: &Tensor,
    triangle: Triangle,
    form: MatrixForm,
    left: bool,
    out: &mut Tensor,
) -> Result<()> {
    if !left {
        // `x a = b` is `a^T x^T = b^T`.
        let form = MatrixForm { is_transposed: !form.is_transposed, ..form };
        return solve_batch::<O>(a, &transposed(b)?, triangle, form, true, &mut transposed(out)?);
    }
    let [size, _] = matrix_sizes(out);
    with_compute_type!(O, out.dtype(), T: [f32, f64, Complex32, Complex64] => {
        let a = column_major_expanded(a, out)?;
        let a = a.read::<T>()?;
        update_columns::<T>(out, b, |x| {
            for_each_system(&a, size, x, |_, a, x| solve_columns(triangle, form, a, size, x));
            Ok(())
        })
    })
}

/// Calls `solve` with the index of every matrix of a batch of square matrices, the matrix, and the columns of its system. If there are few
/// matrices, the columns are divided among threads.
pub(crate) fn for_each_system<T: Number>(
    matrices: &[T],
    size: usize,
    columns: &mut [T],
    solve: impl Fn(usize, &[T], &mut [T]) + Sync,
) {
    let count = matrices.len() / (size * size);
    let of_each = columns.len() / count;
    let step = matrices_per_piece(count, size * of_each);
    let pieces = matrices.chunks(step * size * size).zip(columns.chunks_mut(step * of_each)).enumerate();
    for_each_piece(pieces, |(piece, (matrices, columns))| {
        let systems = matrices.chunks_exact(size * size).zip(columns.chunks_exact_mut(of_each));
        for (index, (matrix, columns)) in systems.enumerate() {
            let width = columns_per_thread(of_each / size, size * of_each);
            for_each_piece(columns.chunks_mut(size * width), |columns| solve(piece * step + index, matrix, columns));
        }
    });
}

/// Solves a system of a column-major triangular matrix for several columns, in place.
pub(crate) fn solve_columns<T: Number>(
    triangle: Triangle,
    form: MatrixForm,
    matrix: &[T],
    size: usize,
    columns: &mut [T],
) {
    if size <= MAX_UNBLOCKED_SIZE {
        let system = SmallSystem { triangle, matrix, size, is_transposed: form.is_transposed };
        return if form.is_conjugate { system.solve(columns, T::conjugate) } else { system.solve(columns, |x| x) };
    }
    let count = columns.len() / size;
    let conjugate = if form.is_conjugate { Conj::Yes } else { Conj::No };
    let (matrix, columns) = (view(matrix, size, size, size), view_mut(columns, size, count, size));
    if form.is_transposed {
        solve_triangle(triangle.transposed(), matrix.transpose(), conjugate, columns);
    } else {
        solve_triangle(triangle, matrix, conjugate, columns);
    }
}

/// A system with a column-major matrix of at most [`MAX_UNBLOCKED_SIZE`] rows.
struct SmallSystem<'a, T> {
    triangle: Triangle,
    matrix: &'a [T],
    size: usize,
    is_transposed: bool,
}

impl<T: Number> SmallSystem<'_, T> {
    /// Solves the system for columns, in place. `each` maps the elements of the matrix.
    fn solve(&self, columns: &mut [T], each: impl Fn(T) -> T + Copy) {
        vectorised(
            #[inline(always)]
            || {
                let mut groups = columns.chunks_exact_mut(LANES * self.size);
                for group in &mut groups {
                    let mut rows = [[T::ZERO; LANES]; MAX_UNBLOCKED_SIZE];
                    let rows = &mut rows[..self.size];
                    for (lane, column) in group.chunks_exact(self.size).enumerate() {
                        rows.iter_mut().zip(column).for_each(|(row, &x)| row[lane] = x);
                    }
                    self.substitute(rows, each);
                    for (lane, column) in group.chunks_exact_mut(self.size).enumerate() {
                        rows.iter().zip(column).for_each(|(row, x)| *x = row[lane]);
                    }
                }
                for column in groups.into_remainder().chunks_exact_mut(self.size) {
                    self.substitute::<1>(column.as_chunks_mut().0, each);
                }
            },
        );
    }

    /// Solves the system for the lanes of `x`, row by row.
    #[inline(always)]
    fn substitute<const L: usize>(&self, x: &mut [[T; L]], each: impl Fn(T) -> T + Copy) {
        let &Self { triangle, matrix, size, is_transposed } = self;
        for step in 0..size {
            let row = if triangle.is_upper == is_transposed { step } else { size - 1 - step };
            let column = &matrix[row * size..][..size];
            let others = if triangle.is_upper { 0..row } else { row + 1..size };
            let mut value = x[row];
            if is_transposed {
                for (x, &a) in x[others.clone()].iter().zip(&column[others.clone()]) {
                    subtract_multiple(&mut value, x, each(a));
                }
            }
            if !triangle.has_unit_diagonal {
                let diagonal = each(column[row]);
                for value in &mut value {
                    *value = value.divided(diagonal);
                }
            }
            x[row] = value;
            if !is_transposed {
                for (x, &a) in x[others.clone()].iter_mut().zip(&column[others]) {
                    subtract_multiple(x, &value, each(a));
                }
            }
        }
    }
}

/// Subtracts a multiple of `y` from the lanes of `x`.
#[inline(always)]
fn subtract_multiple<T: Number, const L: usize>(x: &mut [T; L], y: &[T; L], factor: T) {
    x.iter_mut().zip(y).for_each(|(x, &y)| *x = x.minus(y.times(factor)));
}
