//! Products and triangular systems with blocks of matrices, divided among the threads of this backend.

use engine::thread_pool;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::matmul::{matmul, matmul_with_conj};
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place_with_conj, solve_unit_lower_triangular_in_place_with_conj,
    solve_unit_upper_triangular_in_place_with_conj, solve_upper_triangular_in_place_with_conj,
};
use faer::{Accum, Conj, MatMut, MatRef, Par};

use crate::matrices::for_each_piece;
use crate::number::Number;

/// The fewest multiply-adds of a product that are worth a second thread.
const MIN_PARALLEL_WORK: usize = 1 << 18;

/// The shape of a triangular matrix.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Triangle {
    /// The elements above the diagonal count, and not those below it.
    pub(crate) is_upper: bool,
    /// The elements of the diagonal are ones, and are not read.
    pub(crate) has_unit_diagonal: bool,
}

impl Triangle {
    /// The lower factor of an LU decomposition.
    pub(crate) const UNIT_LOWER: Self = Self { is_upper: false, has_unit_diagonal: true };
    /// The factor of a Cholesky decomposition.
    pub(crate) const LOWER: Self = Self { is_upper: false, has_unit_diagonal: false };
    /// The upper factor of an LU decomposition.
    pub(crate) const UPPER: Self = Self { is_upper: true, has_unit_diagonal: false };

    /// Returns the shape of the transposed matrix.
    pub(crate) fn transposed(self) -> Self {
        Self { is_upper: !self.is_upper, ..self }
    }
}

/// Makes a matrix of the elements of columns that are `stride` elements apart.
pub(crate) fn view<T>(elements: &[T], rows: usize, columns: usize, stride: usize) -> MatRef<'_, T> {
    MatRef::from_column_major_slice_with_stride(elements, rows, columns, stride).as_dyn_stride()
}

/// Makes a matrix of the elements of columns that are `stride` elements apart.
pub(crate) fn view_mut<T>(elements: &mut [T], rows: usize, columns: usize, stride: usize) -> MatMut<'_, T> {
    MatMut::from_column_major_slice_with_stride_mut(elements, rows, columns, stride).as_dyn_stride_mut()
}

/// Divides `count` columns into ranges for threads, if together they need `work` multiply-adds. Each range has a multiple of 8 columns.
pub(crate) fn columns_per_thread(count: usize, work: usize) -> usize {
    let threads = thread_pool::region_thread_count().min(work / MIN_PARALLEL_WORK).max(1);
    if threads == 1 { count.max(1) } else { count.div_ceil(2 * threads).next_multiple_of(8) }
}

/// Divides a matrix into groups of columns.
pub(crate) fn column_groups<T>(matrix: MatMut<'_, T>, width: usize) -> impl Iterator<Item = MatMut<'_, T>> {
    let mut rest = Some(matrix);
    std::iter::from_fn(move || {
        let matrix = rest.take()?;
        if matrix.ncols() <= width {
            return Some(matrix);
        }
        let (group, others) = matrix.split_at_col_mut(width);
        rest = Some(others);
        Some(group)
    })
}

/// Solves a triangular system for each column of `columns`, in place. `conjugate` says whether the matrix is replaced by its conjugate.
pub(crate) fn solve_triangle<T: Number>(
    triangle: Triangle,
    matrix: MatRef<'_, T>,
    conjugate: Conj,
    columns: MatMut<'_, T>,
) {
    match (triangle.is_upper, triangle.has_unit_diagonal) {
        (false, false) => solve_lower_triangular_in_place_with_conj(matrix, conjugate, columns, Par::Seq),
        (false, true) => solve_unit_lower_triangular_in_place_with_conj(matrix, conjugate, columns, Par::Seq),
        (true, false) => solve_upper_triangular_in_place_with_conj(matrix, conjugate, columns, Par::Seq),
        (true, true) => solve_unit_upper_triangular_in_place_with_conj(matrix, conjugate, columns, Par::Seq),
    }
}

/// Computes `c -= a b`, on the calling thread.
pub(crate) fn subtract_product<T: Number>(c: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    matmul(c, Accum::Add, a, b, T::ONE.negated(), Par::Seq);
}

/// Computes the lower triangle of `c -= a a^H`, on the threads of this backend.
pub(crate) fn subtract_own_product<T: Number>(c: MatMut<'_, T>, a: MatRef<'_, T>) {
    let (size, inner) = (c.nrows(), a.ncols());
    let width = columns_per_thread(size, size * size * inner / 2).min(size.max(1));
    let starts = (0..).step_by(width);
    let groups = starts.zip(column_groups(c, width));
    for_each_piece(groups, |(first, group)| {
        let width = group.ncols();
        let (_, group) = group.split_at_row_mut(first);
        let (diagonal, below) = group.split_at_row_mut(width);
        let own = a.subrows(first, width);
        let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
        let (keep, conjugate, factor) = (Conj::No, Conj::Yes, T::ONE.negated());
        let adjoint = own.transpose();
        triangular::matmul_with_conj(
            diagonal,
            lower,
            Accum::Add,
            own,
            full,
            keep,
            adjoint,
            full,
            conjugate,
            factor,
            Par::Seq,
        );
        let rows_below = a.subrows(first + width, size - first - width);
        matmul_with_conj(below, Accum::Add, rows_below, keep, adjoint, conjugate, factor, Par::Seq);
    });
}
