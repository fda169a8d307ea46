//! Eigenvalues and eigenvectors of one matrix that need not be Hermitian.

use dispatch_runtime::{Arithmetic, Complex32, Complex64, Floating, Result};
use engine::allocation::filled_vec;
use engine::compute::{ComputeType, RealFloat};
use engine::math::Real;
use faer::diag::DiagMut;
use faer::dyn_stack::{MemStack, StackReq};
use faer::linalg::evd::{ComputeEigenvectors, EvdError, evd_cplx, evd_real, evd_scratch};
use faer::{MatMut, MatRef, Par, Spec};

use crate::number::{Number, RealOf};

/// A number that matrices consist of, with the complex numbers of its precision.
pub(crate) trait GeneralNumber: Number {
    /// The complex numbers of the same precision.
    type Complex: Number<Real = RealOf<Self>>;

    /// Converts the number to a complex one.
    fn to_complex(self) -> Self::Complex;

    /// Returns the memory that [`eigenvalues`](Self::eigenvalues) needs.
    fn eigenvalues_scratch(size: usize, with_vectors: bool) -> StackReq {
        let wanted = if with_vectors { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
        evd_scratch::<Self>(size, ComputeEigenvectors::No, wanted, Par::Seq, Spec::default())
    }

    /// Computes the eigenvalues of a column-major matrix whose elements are finite, and eigenvectors of norm 1 if they are requested.
    fn eigenvalues(
        matrix: &[Self],
        values: &mut [Self::Complex],
        vectors: Option<&mut [Self::Complex]>,
        stack: &mut MemStack,
    ) -> Result<std::result::Result<(), EvdError>>;
}

macro_rules! impl_general_number {
    ($($real:ty, $complex:ty;)*) => {$(
        impl GeneralNumber for $real {
            type Complex = $complex;

            fn to_complex(self) -> $complex {
                <$complex>::new(self, 0.0)
            }

            fn eigenvalues(
                matrix: &[Self],
                values: &mut [$complex],
                vectors: Option<&mut [$complex]>,
                stack: &mut MemStack,
            ) -> Result<std::result::Result<(), EvdError>> {
                let size = values.len();
                let [mut real, mut imaginary] = [filled_vec(0.0, size)?, filled_vec(0.0, size)?];
                let mut packed = filled_vec(0.0, if vectors.is_some() { size * size } else { 0 })?;
                let to = vectors.is_some().then(|| MatMut::from_column_major_slice_mut(&mut packed, size, size).as_dyn_stride_mut());
                let found = evd_real(
                    MatRef::from_column_major_slice(matrix, size, size).as_dyn_stride(),
                    DiagMut::from_slice_mut(&mut real).as_dyn_stride_mut(),
                    DiagMut::from_slice_mut(&mut imaginary).as_dyn_stride_mut(),
                    None,
                    to,
                    Par::Seq,
                    stack,
                    Spec::default(),
                );
                if found.is_err() {
                    return Ok(found);
                }
                for (value, (&re, &im)) in values.iter_mut().zip(real.iter().zip(&imaginary)) {
                    *value = <$complex>::new(re, im);
                }
                let Some(vectors) = vectors else { return Ok(found) };
                let mut columns = vectors.chunks_exact_mut(size).zip(packed.chunks_exact(size)).zip(&imaginary);
                // Two columns are the real and the imaginary part of an eigenvector. Its conjugate belongs to the next eigenvalue.
                while let Some(((column, part), &im)) = columns.next() {
                    if im == 0.0 {
                        column.iter_mut().zip(part).for_each(|(to, &re)| *to = <$complex>::new(re, 0.0));
                    } else if let Some(((conjugate, imaginary_part), _)) = columns.next() {
                        for (((to, conjugate), &re), &im) in column.iter_mut().zip(conjugate).zip(part).zip(imaginary_part) {
                            (*to, *conjugate) = (<$complex>::new(re, im), <$complex>::new(re, -im));
                        }
                    }
                }
                normalize_columns(matrix, values, vectors)?;
                Ok(found)
            }
        }

        impl GeneralNumber for $complex {
            type Complex = Self;

            fn to_complex(self) -> Self {
                self
            }

            fn eigenvalues(
                matrix: &[Self],
                values: &mut [Self],
                mut vectors: Option<&mut [Self]>,
                stack: &mut MemStack,
            ) -> Result<std::result::Result<(), EvdError>> {
                let size = values.len();
                let to = vectors.as_deref_mut().map(|to| MatMut::from_column_major_slice_mut(to, size, size).as_dyn_stride_mut());
                let found = evd_cplx(
                    MatRef::from_column_major_slice(matrix, size, size).as_dyn_stride(),
                    DiagMut::from_slice_mut(values).as_dyn_stride_mut(),
                    None,
                    to,
                    Par::Seq,
                    stack,
                    Spec::default(),
                );
                if let (Some(vectors), Ok(())) = (vectors, &found) {
                    normalize_columns(matrix, values, vectors)?;
                }
                Ok(found)
            }
        }
    )*};
}

impl_general_number! {
    f32, Complex32;
    f64, Complex64;
}

/// Scales each eigenvector to norm 1, and its largest element to a real number. An eigenvector that overflowed is computed again.
fn normalize_columns<T: GeneralNumber>(matrix: &[T], values: &[T::Complex], vectors: &mut [T::Complex]) -> Result<()> {
    for (column, &value) in vectors.chunks_exact_mut(values.len()).zip(values) {
        if !normalize(column) {
            iterate_inverse(matrix, value, column)?;
        }
    }
    Ok(())
}

/// Scales a vector to norm 1, and its largest element to a real number. Returns `false` if it is zero or not finite.
fn normalize<C: Number>(vector: &mut [C]) -> bool {
    let mut largest = C::ZERO;
    for &element in &*vector {
        let size = element.magnitude_sum();
        if size.is_nan() {
            return false;
        }
        if size > largest.magnitude_sum() {
            largest = element;
        }
    }
    let size = largest.magnitude_sum();
    let infinity = RealOf::<C>::from_f64(f64::INFINITY);
    if size == RealOf::<C>::ZERO || size == infinity {
        return false;
    }
    let scaled_square = |element: C| element.divided(C::from_real(size)).square();
    let (mut sum, mut first) = (RealOf::<C>::ZERO, (RealOf::<C>::ZERO, C::ONE));
    for &element in &*vector {
        let square = scaled_square(element);
        sum += square;
        if square > first.0 {
            first = (square, element.divided(C::from_real(size)));
        }
    }
    let (norm, largest) = (Real::sqrt(sum), first.1);
    let is_real = vector.iter().all(|element| element.imaginary() == RealOf::<C>::ZERO);
    let turn = if is_real { C::ONE } else { largest.conjugate().divided(C::from_real(Real::sqrt(first.0))) };
    for element in vector {
        *element = element.divided(C::from_real(size)).times(turn).divided(C::from_real(norm));
    }
    true
}

/// Computes an eigenvector of norm 1 for a known eigenvalue by inverse iteration.
fn iterate_inverse<T: GeneralNumber>(matrix: &[T], value: T::Complex, vector: &mut [T::Complex]) -> Result<()> {
    let size = vector.len();
    let mut shifted = filled_vec(T::Complex::ZERO, size * size)?;
    let mut largest = RealOf::<T>::ZERO;
    for (place, (to, &element)) in shifted.iter_mut().zip(matrix).enumerate() {
        *to = element.to_complex();
        if place % (size + 1) == 0 {
            *to = to.plus(value.negated());
        }
        largest = largest.at_least(to.magnitude_sum());
    }
    let smallest_pivot = T::Complex::from_real(largest * RealOf::<T>::from_f64(1e-16));
    vector.fill(T::Complex::ONE);
    let mut factors = shifted.clone();
    for _ in 0..2 {
        factors.copy_from_slice(&shifted);
        eliminate(&mut factors, vector, smallest_pivot);
        if !normalize(vector) {
            vector.fill(T::Complex::ZERO);
            vector[0] = T::Complex::ONE;
        }
    }
    Ok(())
}

/// Solves a system of equations by elimination with partial pivoting. Pivots of zero are replaced.
fn eliminate<C: Number>(matrix: &mut [C], vector: &mut [C], smallest_pivot: C) {
    let size = vector.len();
    for step in 0..size {
        let pivot = (step..size).fold(step, |best, row| {
            let is_larger = matrix[step * size + row].magnitude_sum() > matrix[step * size + best].magnitude_sum();
            if is_larger { row } else { best }
        });
        vector.swap(step, pivot);
        (step..size).for_each(|column| matrix.swap(column * size + step, column * size + pivot));
        if matrix[step * size + step].magnitude_sum() <= smallest_pivot.real() {
            matrix[step * size + step] = smallest_pivot;
        }
        for row in step + 1..size {
            let factor = matrix[step * size + row].divided(matrix[step * size + step]).negated();
            for column in step..size {
                matrix[column * size + row] =
                    matrix[column * size + row].plus(factor.times(matrix[column * size + step]));
            }
            vector[row] = vector[row].plus(factor.times(vector[step]));
        }
    }
    for step in (0..size).rev() {
        vector[step] = vector[step].divided(matrix[step * size + step]);
        for row in 0..step {
            vector[row] = vector[row].plus(matrix[step * size + row].times(vector[step]).negated());
        }
    }
}
