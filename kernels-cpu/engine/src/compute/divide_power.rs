//! Division of floating-point and complex numbers, and powers of all number types.

use dispatch_runtime::{Complex32, Complex64};

use super::ComputeType;
use crate::inlined::inlined;
use crate::math::Real;

/// A floating-point number type with division, real or complex.
pub trait Divide: ComputeType {
    /// Returns `self / divisor`.
    fn divide(self, divisor: Self) -> Self;
}

/// A number type with powers.
pub trait Power: ComputeType {
    /// Raises this number to a power. A negative power of an integer is rounded towards zero.
    fn pow(self, exponent: Self) -> Self;
}

inlined! {
    impl Divide for f32, f64 {
        fn divide(self, divisor: Self) -> Self = self / divisor;
    }

    impl Power for f32, f64 {
        fn pow(self, exponent: Self) -> Self = Real::pow(self, exponent);
    }
}

impl Power for i64 {
    fn pow(self, exponent: Self) -> Self {
        if exponent < 0 {
            return match self {
                1 => 1,
                -1 => 1 - 2 * (exponent & 1),
                _ => 0,
            };
        }
        let (mut power, mut square, mut rest) = (1, self, exponent);
        while rest > 0 {
            if rest & 1 == 1 {
                power = Self::wrapping_mul(power, square);
            }
            square = square.wrapping_mul(square);
            rest >>= 1;
        }
        power
    }
}

impl Divide for Complex64 {
    /// Divides after scaling by the larger component of the divisor, because the squares of components may overflow.
    fn divide(self, divisor: Self) -> Self {
        if divisor.re.abs() >= divisor.im.abs() {
            if divisor.re == 0.0 && divisor.im == 0.0 {
                return Self::new(self.re / divisor.re.abs(), self.im / divisor.im.abs());
            }
            let ratio = divisor.im / divisor.re;
            let scale = divisor.re + divisor.im * ratio;
            Self::new((self.re + self.im * ratio) / scale, (self.im - self.re * ratio) / scale)
        } else {
            let ratio = divisor.re / divisor.im;
            let scale = divisor.re * ratio + divisor.im;
            Self::new((self.re * ratio + self.im) / scale, (self.im * ratio - self.re) / scale)
        }
    }
}

impl Divide for Complex32 {
    #[inline]
    fn divide(self, divisor: Self) -> Self {
        narrow_complex(Divide::divide(widen_complex(self), widen_complex(divisor)))
    }
}

impl Power for Complex64 {
    fn pow(self, exponent: Self) -> Self {
        let one = Self::new(1.0, 0.0);
        match (self, exponent) {
            (_, Self { re: 0.0, im: 0.0 }) => one,
            (Self { re: 0.0, im: 0.0 }, Self { re, im: 0.0 }) if re > 0.0 => Self::new(0.0, 0.0),
            _ => self.powc(exponent),
        }
    }
}

impl Power for Complex32 {
    #[inline]
    fn pow(self, exponent: Self) -> Self {
        narrow_complex(Power::pow(widen_complex(self), widen_complex(exponent)))
    }
}

/// Converts a complex number to double precision.
pub fn widen_complex(x: Complex32) -> Complex64 {
    Complex64::new(x.re.into(), x.im.into())
}

/// Converts a complex number to single precision, rounded to nearest.
#[expect(clippy::cast_possible_truncation, reason = "the conversion rounds")]
pub fn narrow_complex(x: Complex64) -> Complex32 {
    Complex32::new(x.re as f32, x.im as f32)
}
