//! Kernels of eigenvalues and eigenvectors.

use std::borrow::Cow;

use aten::HermitianPlan;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Complex32, Complex64};
use engine::allocation::filled_vec;
use engine::contiguous::write_contiguous;
use engine::reduce::with_compute_type;
use faer::diag::DiagMut;
use faer::dyn_stack::MemStack;
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{MatMut, MatRef, Par, Spec};

use crate::general_eigenvalues::GeneralNumber;
use crate::matrices::{column_major, matrices_per_piece, matrix_sizes, write_columns};
use crate::number::{Number, RealOf};
use crate::spectra::{Magnitude, decomposition_failed, not_a_number, try_for_each_piece, workspace};

#[op_impl(aten::_linalg_eigh, CPU)]
fn _linalg_eigh(plan: &HermitianPlan, [values, vectors]: [&mut Tensor; 2], A: &Tensor, compute_v: bool) -> Result<()> {
    let matrices = column_major(A)?;
    with_compute_type!(aten::_linalg_eigh, A.dtype(), T: [f32, f64, Complex32, Complex64] => {
        let elements = matrices.read::<T>()?;
        let batch = HermitianBatch { tensor: A, elements: &elements, size: matrix_sizes(A)[0], reads_upper: plan.reads_upper };
        write_contiguous(values, |values: &mut [RealOf<T>]| {
            if compute_v {
                write_columns(vectors, |vectors: &mut [T]| batch.decompose(values, Some(vectors)))
            } else {
                batch.decompose(values, None)
            }
        })
    })
}

/// A batch of column-major matrices that are not empty. One triangle of each is read.
struct HermitianBatch<'a, T> {
    tensor: &'a Tensor,
    elements: &'a [T],
    size: usize,
    reads_upper: bool,
}

impl<T: Number> HermitianBatch<'_, T>
where
    RealOf<T>: Into<f64>,
{
    fn decompose(&self, values: &mut [RealOf<T>], vectors: Option<&mut [T]>) -> Result<()> {
        let (size, square) = (self.size, self.size * self.size);
        let step = matrices_per_piece(values.len() / size, square * size);
        let mut vectors = vectors.map(|vectors| vectors.chunks_mut(step * square));
        let pieces = self.elements.chunks(step * square).zip(values.chunks_mut(step * size)).enumerate();
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
        vectors: Option<&mut [T]>,
    ) -> Result<()> {
        let (size, square) = (self.size, self.size * self.size);
        let wanted = if vectors.is_some() { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
        let mut memory = workspace(self_adjoint_evd_scratch::<T>(size, wanted, Par::Seq, Spec::default()))?;
        let mut diagonal = filled_vec(T::ZERO, size)?;
        let mut vectors = vectors.map(|vectors| vectors.chunks_exact_mut(square));
        let batch = matrices.chunks_exact(square).zip(values.chunks_exact_mut(size)).enumerate();
        for (index, (matrix, values)) in batch {
            let mut vectors = vectors.as_mut().and_then(Iterator::next);
            let (mut matrix, scale) = match Magnitude::of(self.triangle(matrix)) {
                Magnitude::Moderate => (Cow::Borrowed(matrix), None),
                Magnitude::Scaled(scale) => (matrix.iter().map(|x| x.scaled(scale)).collect(), Some(scale)),
                Magnitude::Infinite | Magnitude::NotANumber => {
                    values.fill(RealOf::<T>::from_f64(f64::NAN));
                    if let Some(vectors) = vectors {
                        vectors.fill(not_a_number());
                    }
                    continue;
                }
            };
            // The imaginary parts of the diagonal do not count.
            if matrix.iter().step_by(size + 1).any(|element| element.imaginary() != RealOf::<T>::from_f64(0.0)) {
                let diagonal = matrix.to_mut().iter_mut().step_by(size + 1);
                diagonal.for_each(|element| *element = T::from_real(element.real()));
            }
            let matrix = MatRef::from_column_major_slice(&matrix, size, size).as_dyn_stride();
            self_adjoint_evd(
                // The lower triangle of the transposed matrix is the conjugate of the one to read.
                if self.reads_upper { matrix.transpose() } else { matrix },
                DiagMut::from_slice_mut(&mut diagonal).as_dyn_stride_mut(),
                vectors.as_deref_mut().map(|v| MatMut::from_column_major_slice_mut(v, size, size).as_dyn_stride_mut()),
                Par::Seq,
                MemStack::new(&mut memory),
                Spec::default(),
            )
            .map_err(|_| decomposition_failed("linalg_eigh", self.tensor, first + index, 1))?;
            for (value, element) in values.iter_mut().zip(&diagonal) {
                *value = scale.map_or_else(|| element.real(), |scale| element.real() / scale);
            }
            if let Some(vectors) = vectors.filter(|_| self.reads_upper) {
                for element in vectors {
                    *element = element.conjugate();
                }
            }
        }
        Ok(())
    }

    /// Returns the elements of the triangle that is read.
    fn triangle<'m>(&self, matrix: &'m [T]) -> impl Iterator<Item = T> + 'm {
        let reads_upper = self.reads_upper;
        matrix.chunks_exact(self.size).enumerate().flat_map(move |(column, elements)| {
            if reads_upper { &elements[..=column] } else { &elements[column..] }.iter().copied()
        })
    }
}

#[op_impl(aten::linalg_eig, CPU)]
fn linalg_eig(_plan: &(), [values, vectors]: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    let matrices = column_major(this)?;
    with_compute_type!(aten::linalg_eig, this.dtype(), T: [f32, f64, Complex32, Complex64] => {
        let elements = matrices.read::<T>()?;
        write_contiguous(values, |values: &mut [<T as GeneralNumber>::Complex]| {
            write_columns(vectors, |vectors| decompose::<T>(this, &elements, values, Some(vectors)))
        })
    })
}

#[op_impl(aten::_linalg_eigvals, CPU)]
fn _linalg_eigvals(_plan: &(), out: &mut Tensor, this: &Tensor) -> Result<()> {
    let matrices = column_major(this)?;
    with_compute_type!(aten::_linalg_eigvals, this.dtype(), T: [f32, f64, Complex32, Complex64] => {
        let elements = matrices.read::<T>()?;
        write_contiguous(out, |values| decompose::<T>(this, &elements, values, None))
    })
}

/// Computes the eigenvalues, and the eigenvectors if they are requested, of column-major matrices that are not empty.
fn decompose<T: GeneralNumber>(
    tensor: &Tensor,
    matrices: &[T],
    values: &mut [T::Complex],
    vectors: Option<&mut [T::Complex]>,
) -> Result<()>
where
    RealOf<T>: Into<f64>,
{
    let size = matrix_sizes(tensor)[0];
    let square = size * size;
    let step = matrices_per_piece(values.len() / size, 8 * square * size);
    let mut vectors = vectors.map(|vectors| vectors.chunks_mut(step * square));
    let pieces = matrices.chunks(step * square).zip(values.chunks_mut(step * size)).enumerate();
    let pieces = pieces.map(|(number, (matrices, values))| {
        (number * step, matrices, values, vectors.as_mut().and_then(Iterator::next))
    });
    try_for_each_piece(pieces.collect::<Vec<_>>(), |(first, matrices, values, vectors)| {
        let mut memory = workspace(T::eigenvalues_scratch(size, vectors.is_some()))?;
        let mut vectors = vectors.map(|vectors| vectors.chunks_exact_mut(square));
        for (index, (matrix, values)) in matrices.chunks_exact(square).zip(values.chunks_exact_mut(size)).enumerate() {
            let vectors = vectors.as_mut().and_then(Iterator::next);
            let (matrix, scale) = match Magnitude::of(matrix.iter().copied()) {
                Magnitude::Moderate => (Cow::Borrowed(matrix), None),
                Magnitude::Scaled(scale) => (matrix.iter().map(|x| x.scaled(scale)).collect(), Some(scale)),
                _ if vectors.is_some() => return Err(decomposition_failed("linalg_eig", tensor, first + index, -1)),
                _ => {
                    values.fill(not_a_number());
                    continue;
                }
            };
            T::eigenvalues(&matrix, values, vectors, MemStack::new(&mut memory))?
                .map_err(|_| decomposition_failed("linalg_eig", tensor, first + index, 1))?;
            if let Some(scale) = scale {
                let inverse = RealOf::<T>::from_f64(1.0) / scale;
                for value in values {
                    *value = value.scaled(inverse);
                }
            }
        }
        Ok(())
    })
}
