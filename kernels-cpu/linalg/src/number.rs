//! The numbers that matrices consist of.

use dispatch_runtime::{Complex32, Complex64};
use engine::compute::{ComputeType, RealFloat};
use faer::traits::ComplexField;

/// The real numbers of a number type.
pub(crate) type RealOf<T> = <T as ComplexField>::Real;

/// A real or complex floating-point number.
pub(crate) trait Number: ComputeType + ComplexField<Real: RealFloat> {
    /// A real number from which sums of squares are as accurate as other numbers: a smaller sum may have lost squares to underflow.
    const SMALLEST_ACCURATE_SQUARE: RealOf<Self>;
    /// Positive infinity.
    const INFINITY: RealOf<Self>;

    /// Converts a real number.
    fn from_real(real: RealOf<Self>) -> Self;

    /// Returns the real part.
    fn real(self) -> RealOf<Self>;

    /// Returns the imaginary part; zero for a real number.
    fn imaginary(self) -> RealOf<Self>;

    /// Returns the complex conjugate.
    fn conjugate(self) -> Self;

    /// Returns the product with a real number.
    fn scaled(self, factor: RealOf<Self>) -> Self;

    /// Returns the quotient of two numbers.
    fn divided(self, divisor: Self) -> Self;

    /// Returns the sum of the magnitudes of the real and the imaginary part, by which LAPACK chooses pivots.
    #[inline(always)]
    fn magnitude_sum(self) -> RealOf<Self> {
        magnitude(self.real()) + magnitude(self.imaginary())
    }

    /// Returns the square of the absolute value.
    #[inline(always)]
    fn square(self) -> RealOf<Self> {
        self.real() * self.real() + self.imaginary() * self.imaginary()
    }
}

/// Returns the absolute value of a real number.
#[inline(always)]
pub(crate) fn magnitude<R: RealFloat>(value: R) -> R {
    if value < R::ZERO { value.negated() } else { value }
}

macro_rules! impl_number {
    ($($real:ty, $complex:ty;)*) => {$(
        impl Number for $real {
            const SMALLEST_ACCURATE_SQUARE: $real = <$real>::MIN_POSITIVE / <$real>::EPSILON;
            const INFINITY: $real = <$real>::INFINITY;

            #[inline(always)]
            fn from_real(real: $real) -> Self {
                real
            }

            #[inline(always)]
            fn real(self) -> $real {
                self
            }

            #[inline(always)]
            fn imaginary(self) -> $real {
                0.0
            }

            #[inline(always)]
            fn conjugate(self) -> Self {
                self
            }

            #[inline(always)]
            fn scaled(self, factor: $real) -> Self {
                self * factor
            }

            #[inline(always)]
            fn divided(self, divisor: Self) -> Self {
                self / divisor
            }
        }

        impl Number for $complex {
            const SMALLEST_ACCURATE_SQUARE: $real = <$real>::MIN_POSITIVE / <$real>::EPSILON;
            const INFINITY: $real = <$real>::INFINITY;

            #[inline(always)]
            fn from_real(real: $real) -> Self {
                Self::new(real, 0.0)
            }

            #[inline(always)]
            fn real(self) -> $real {
                self.re
            }

            #[inline(always)]
            fn imaginary(self) -> $real {
                self.im
            }

            #[inline(always)]
            fn conjugate(self) -> Self {
                self.conj()
            }

            #[inline(always)]
            fn scaled(self, factor: $real) -> Self {
                Self::new(self.re * factor, self.im * factor)
            }

            /// The divisor is scaled by its larger part, so that its square neither overflows nor vanishes.
            #[inline(always)]
            fn divided(self, divisor: Self) -> Self {
                if divisor.re.abs() >= divisor.im.abs() {
                    let is_real = divisor.im == 0.0 && divisor.re != 0.0;
                    let ratio = if is_real { 0.0 } else { divisor.im / divisor.re };
                    let scale = divisor.re + divisor.im * ratio;
                    Self::new((self.re + self.im * ratio) / scale, (self.im - self.re * ratio) / scale)
                } else {
                    let ratio = divisor.re / divisor.im;
                    let scale = divisor.re * ratio + divisor.im;
                    Self::new((self.re * ratio + self.im) / scale, (self.im * ratio - self.re) / scale)
                }
            }
        }
    )*};
}

impl_number! {
    f32, Complex32;
    f64, Complex64;
}
