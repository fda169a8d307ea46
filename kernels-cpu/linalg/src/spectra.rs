//! Loops over batches for eigenvalues and singular values: failures, and elements that are not finite.

use std::sync::{Mutex, PoisonError};

use aten::DecompositionFailed;
use dispatch_runtime::prelude::*;
use engine::compute::RealFloat;
use faer::dyn_stack::{MemBuffer, StackReq};

use crate::matrices::for_each_piece;
use crate::number::{Number, RealOf};

/// Runs `job` on every piece, in parallel. Returns the error of the first piece that has one.
pub(crate) fn try_for_each_piece<P: Send>(
    pieces: impl IntoIterator<Item = P>,
    job: impl Fn(P) -> Result<()> + Sync,
) -> Result<()> {
    let first_error = Mutex::new(None::<(usize, Error)>);
    for_each_piece(pieces.into_iter().enumerate(), |(number, piece)| {
        if let Err(error) = job(piece) {
            let mut first = first_error.lock().unwrap_or_else(PoisonError::into_inner);
            if first.as_ref().is_none_or(|&(other, _)| number < other) {
                *first = Some((number, error));
            }
        }
    });
    first_error.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), |(_, error)| Err(error))
}

/// Allocates the memory that an algorithm needs for intermediate results.
pub(crate) fn workspace(bytes: StackReq) -> Result<MemBuffer> {
    MemBuffer::try_new(bytes).map_err(|_| Error::kernel("there is no memory for intermediate results"))
}

/// Returns the error of an algorithm that failed for one matrix of a batch. `info` is a code as LAPACK's: negative if an element is not
/// finite.
pub(crate) fn decomposition_failed(function: &str, matrices: &Tensor, index: usize, info: i32) -> Error {
    let batch_element = (matrices.sizes().len() > 2).then_some(index);
    Error::kernel(DecompositionFailed { function: function.to_owned(), batch_element, info })
}

/// The magnitude of the elements of a matrix.
pub(crate) enum Magnitude<R> {
    /// No algorithm overflows or loses small elements.
    Moderate,
    /// The matrix should be multiplied by this power of two before a decomposition.
    Scaled(R),
    /// An element is infinite, and none is NaN.
    Infinite,
    /// An element is NaN.
    NotANumber,
}

impl<R: RealFloat + Into<f64>> Magnitude<R> {
    /// Measures elements, of which a sum of squares must not overflow.
    pub(crate) fn of<T: Number<Real = R>>(elements: impl Iterator<Item = T>) -> Self {
        let (mut largest, mut is_nan) = (R::ZERO, false);
        for element in elements {
            let magnitude = element.magnitude_sum();
            is_nan |= magnitude.is_nan();
            largest = largest.at_least(magnitude);
        }
        let largest: f64 = largest.into();
        if is_nan {
            return Self::NotANumber;
        }
        if largest == f64::INFINITY {
            return Self::Infinite;
        }
        let is_single = R::DTYPE == DType::F32;
        let (smallest, greatest) = if is_single { (1e-14, 1e14) } else { (1e-140, 1e140) };
        if largest == 0.0 || (smallest..greatest).contains(&largest) {
            return Self::Moderate;
        }
        let limit = if is_single { 100.0 } else { 900.0 };
        Self::Scaled(R::from_f64((-largest.log2().floor().clamp(-limit, limit)).exp2()))
    }
}

/// Returns a number that is NaN.
pub(crate) fn not_a_number<T: Number>() -> T {
    T::from_real(RealOf::<T>::from_f64(f64::NAN))
}
