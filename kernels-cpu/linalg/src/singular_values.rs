//! Kernels of singular values and vectors.

use std::borrow::Cow;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Complex32, Complex64};
use engine::allocation::{filled_vec, to_usize};
use engine::contiguous::write_contiguous;
use engine::reduce::with_compute_type;
use faer::diag::DiagMut;
use faer::dyn_stack::MemStack;
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{MatMut, MatRef, Par, Spec};

use crate::matrices::{column_major, matrices_per_piece, matrix_sizes, write_columns, write_identity};
use crate::number::{Number, RealOf};
use crate::spectra::{Magnitude, decomposition_failed, not_a_number, try_for_each_piece, workspace};

#[op_impl(aten::_linalg_svd, CPU)]
fn _linalg_svd(_plan: &(), [left, values, right]: [&mut Tensor; 3], A: &Tensor, compute_uv: bool) -> Result<()> {
    let [rows, columns] = matrix_sizes(A);
    with_compute_type!(aten::_linalg_svd, A.dtype(), T: [f32, f64, Complex32, Complex64] => {
        if rows == 0 || columns == 0 {
            return if compute_uv { write_identities::<T>(left).and_then(|()| write_identities::<T>(right)) } else { Ok(()) };
        }
        let matrices = column_major(A)?;
        let elements = matrices.read::<T>()?;
        let batch = Batch { tensor: A, elements: &elements, rows, columns };
        write_contiguous(values, |values: &mut [RealOf<T>]| {
            if !compute_uv {
                return batch.decompose(values, None);
            }
            let counts = [matrix_sizes(left)[1], matrix_sizes(right)[0]];
            write_columns(left, |left: &mut [T]| {
                write_columns(right, |right: &mut [T]| batch.decompose(values, Some((left, right, counts))))
            })
        })
    })
}

/// Writes matrices with ones on their diagonals.
fn write_identities<T: Number>(out: &mut Tensor) -> Result<()> {
    let [rows, columns] = out.sizes()[out.sizes().len() - 2..] else { return Ok(()) };
    let (rows, columns) = (to_usize(rows), to_usize(columns));
    write_columns(out, |elements: &mut [T]| {
        elements.chunks_exact_mut(rows * columns).for_each(|matrix| write_identity(matrix, rows));
        Ok(())
    })
}

/// A batch of column-major matrices that are not empty.
struct Batch<'a, T> {
    tensor: &'a Tensor,
    elements: &'a [T],
    rows: usize,
    columns: usize,
}

/// Left singular vectors as columns, conjugates of right ones as rows, and the numbers of both.
type Vectors<'a, T> = (&'a mut [T], &'a mut [T], [usize; 2]);

impl<T: Number> Batch<'_, T>
where
    RealOf<T>: Into<f64>,
{
    fn decompose(&self, values: &mut [RealOf<T>], vectors: Option<Vectors<'_, T>>) -> Result<()> {
        let &Self { rows, columns, .. } = self;
        let (size, inner) = (rows * columns, rows.min(columns));
        let step = matrices_per_piece(values.len() / inner, size * inner);
        let mut vectors = vectors.map(|(left, right, counts)| {
            let (of_left, of_right) = (step * rows * counts[0], step * columns * counts[1]);
            left.chunks_mut(of_left).zip(right.chunks_mut(of_right)).map(move |(left, right)| (left, right, counts))
        });
        let pieces = self.elements.chunks(step * size).zip(values.chunks_mut(step * inner)).enumerate();
        let pieces = pieces.map(|(number, (matrices, values))| {
            (number * step, matrices, values, vectors.as_mut().and_then(Iterator::next))
        });
        try_for_each_piece(pieces.collect::<Vec<_>>(), |(first, matrices, values, vectors)| {
            self.decompose_piece(first, matrices, values, vectors)
        })
    }

    /// Decomposes consecutive matrices of the batch, from the index `first`.
    fn decompose_piece(
        &self,
        first: usize,
        matrices: &[T],
        values: &mut [RealOf<T>],
        vectors: Option<Vectors<'_, T>>,
    ) -> Result<()> {
        let &Self { rows, columns, .. } = self;
        let inner = rows.min(columns);
        let kind = |count| if count == inner { ComputeSvdVectors::Thin } else { ComputeSvdVectors::Full };
        let kinds = vectors.as_ref().map_or([ComputeSvdVectors::No; 2], |(_, _, counts)| counts.map(kind));
        let mut memory = workspace(svd_scratch::<T>(rows, columns, kinds[0], kinds[1], Par::Seq, Spec::default()))?;
        let (mut left, mut right, [of_left, of_right]) = vectors.unwrap_or((&mut [], &mut [], [0, 0]));
        let mut transposed_right = filled_vec(T::ZERO, columns * of_right)?;
        let mut diagonal = filled_vec(T::ZERO, inner)?;
        let batch = matrices.chunks_exact(rows * columns).zip(values.chunks_exact_mut(inner)).enumerate();
        for (index, (matrix, values)) in batch {
            let (here, rest) = std::mem::take(&mut left).split_at_mut(rows * of_left);
            left = rest;
            let (to_right, rest) = std::mem::take(&mut right).split_at_mut(of_right * columns);
            right = rest;
            let (matrix, scale) = match Magnitude::of(matrix.iter().copied()) {
                Magnitude::Moderate => (Cow::Borrowed(matrix), None),
                Magnitude::Scaled(scale) => (matrix.iter().map(|x| x.scaled(scale)).collect(), Some(scale)),
                Magnitude::NotANumber => {
                    return Err(decomposition_failed("linalg_svd", self.tensor, first + index, -1));
                }
                Magnitude::Infinite => {
                    values.fill(RealOf::<T>::from_f64(f64::NAN));
                    here.fill(not_a_number());
                    to_right.fill(not_a_number());
                    continue;
                }
            };
            let has_vectors = of_left > 0;
            // Not all elements of vectors without a singular value are written.
            here.fill(T::ZERO);
            transposed_right.fill(T::ZERO);
            let left =
                has_vectors.then(|| MatMut::from_column_major_slice_mut(here, rows, of_left).as_dyn_stride_mut());
            let right = has_vectors.then(|| {
                MatMut::from_column_major_slice_mut(&mut transposed_right, columns, of_right).as_dyn_stride_mut()
            });
            svd(
                MatRef::from_column_major_slice(&matrix, rows, columns).as_dyn_stride(),
                DiagMut::from_slice_mut(&mut diagonal).as_dyn_stride_mut(),
                left,
                right,
                Par::Seq,
                MemStack::new(&mut memory),
                Spec::default(),
            )
            .map_err(|_| decomposition_failed("linalg_svd", self.tensor, first + index, 1))?;
            for (value, element) in values.iter_mut().zip(&diagonal) {
                *value = scale.map_or_else(|| element.real(), |scale| element.real() / scale);
            }
            for (row, vector) in transposed_right.chunks_exact(columns).enumerate() {
                to_right[row..].iter_mut().step_by(of_right).zip(vector).for_each(|(to, &x)| *to = x.conjugate());
            }
        }
        Ok(())
    }
}
