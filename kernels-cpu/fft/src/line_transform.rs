//! The transform of one line: its length, its direction, and the tables of rustfft.

use std::f64::consts::PI;
use std::sync::Arc;

use dispatch_runtime::OutOfMemory;
use engine::allocation::try_with_capacity;
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftDirection, FftNum, FftPlanner};

use crate::plan_cache::PlanCache;

/// A floating-point type of transforms.
pub(crate) trait FftFloat: FftNum {
    /// Returns the transforms that are kept for later calls.
    fn cache() -> &'static PlanCache<Self>;

    /// Converts a number to this type, rounded.
    fn rounded(value: f64) -> Self;
}

macro_rules! impl_fft_float {
    ($($ty:ty: |$value:ident| $from:expr;)*) => {$(
        impl FftFloat for $ty {
            fn cache() -> &'static PlanCache<Self> {
                static CACHE: PlanCache<$ty> = PlanCache::new();
                &CACHE
            }

            #[allow(clippy::cast_possible_truncation, reason = "the conversion rounds")]
            fn rounded($value: f64) -> Self {
                $from
            }
        }
    )*};
}

impl_fft_float! {
    f32: |value| value as f32;
    f64: |value| value;
}

/// The type of a line's transform.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LineKind {
    /// The number of elements of the line, complex or real.
    pub(crate) length: usize,
    pub(crate) direction: FftDirection,
    /// Whether the line is real: before a forward transform, or after an inverse one.
    pub(crate) is_real: bool,
}

impl LineKind {
    /// Whether the pairs of a real line are transformed as complex numbers.
    pub(crate) fn is_folded(self) -> bool {
        self.is_real && self.length.is_multiple_of(2)
    }
}

/// The transform of a line, with its tables.
pub(crate) struct LineTransform<T: FftFloat> {
    pub(crate) kind: LineKind,
    /// The complex transform: of the whole line, or of half the length if the line is folded.
    pub(crate) complex: Arc<dyn Fft<T>>,
    /// The factors that combine two frequencies of a folded line: `-i` times the powers of the root of unity, or their conjugates for the
    /// inverse.
    pub(crate) fold_factors: Vec<Complex<T>>,
}

/// The length from which memory for the tables is reserved before they are made, because rustfft aborts if there is none.
const MIN_CHECKED_LENGTH: usize = 1 << 14;

/// The tables and temporary vectors of rustfft for a line of any length, in complex numbers per element of the line.
const TABLE_ELEMENTS: usize = 16;

impl<T: FftFloat> LineTransform<T> {
    /// Returns the transform of a line, from the cache or made anew.
    pub(crate) fn get(kind: LineKind) -> Result<Arc<Self>, OutOfMemory> {
        T::cache().get_or_make(kind, || Self::new(kind))
    }

    fn new(kind: LineKind) -> Result<Self, OutOfMemory> {
        if kind.length >= MIN_CHECKED_LENGTH {
            try_with_capacity::<Complex<T>>(kind.length.saturating_mul(TABLE_ELEMENTS))?;
        }
        let length = if kind.is_folded() { kind.length / 2 } else { kind.length };
        let fold_factors = if kind.is_folded() { fold_factors(kind) } else { Vec::new() };
        Ok(Self { kind, complex: FftPlanner::new().plan_fft(length, kind.direction), fold_factors })
    }

    /// Returns the number of complex numbers of scratch memory that transforms need in place.
    pub(crate) fn scratch_in_place(&self) -> usize {
        self.complex.get_inplace_scratch_len()
    }
}

/// Returns the factors of the frequencies from 0 to a quarter of the line's length.
fn fold_factors<T: FftFloat>(kind: LineKind) -> Vec<Complex<T>> {
    let step = 2.0 * PI / to_f64(kind.length);
    let factor = |at: usize| {
        let (sin, cos) = (step * to_f64(at)).sin_cos();
        let imaginary_sign = if kind.direction == FftDirection::Forward { -1.0 } else { 1.0 };
        Complex::new(T::rounded(-sin), T::rounded(imaginary_sign * cos))
    };
    (0..=kind.length / 4).map(factor).collect()
}

#[expect(clippy::cast_precision_loss, reason = "an angle is a float")]
fn to_f64(value: usize) -> f64 {
    value as f64
}
