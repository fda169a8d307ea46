//! Powers, distances and remainders.

use super::exponential::exp;
use super::float::Float;
use super::logarithm::log;

pub(super) trait Power: Float {
    fn pow(self, exponent: Self) -> Self;
    fn hypot(self, other: Self) -> Self;
}

impl Power for f32 {
    /// Computes in `f64`, whose logarithm has enough bits for the product with the exponent.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the wider function is rounded")]
    #[expect(clippy::float_cmp, reason = "one and integers are exact")]
    fn pow(self, exponent: Self) -> Self {
        let (x, y) = (f64::from(self), f64::from(exponent));
        let whole = y.trunc() == y;
        let odd = whole && (0.5 * y).trunc() != 0.5 * y;
        let power = exp(y * log(x.abs()));
        let power = if odd { power.copysign(x) } else { power };
        let power = if x < 0.0 && !whole && x != f64::NEG_INFINITY { f64::NAN } else { power };
        let unit = y == 0.0 || x == 1.0 || (x == -1.0 && y.abs() == f64::INFINITY);
        (if unit { 1.0 } else { power }) as Self
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the wider function is rounded")]
    fn hypot(self, other: Self) -> Self {
        let (a, b) = (f64::from(self.abs()), f64::from(other.abs()));
        let result = (a * a + b * b).sqrt();
        (if a == f64::INFINITY || b == f64::INFINITY { f64::INFINITY } else { result }) as Self
    }
}

impl Power for f64 {
    /// Calls the C library: the product with the exponent needs a logarithm of about 64 bits, which this module does not have.
    #[inline(always)]
    fn pow(self, exponent: Self) -> Self {
        self.powf(exponent)
    }

    #[inline(always)]
    fn hypot(self, other: Self) -> Self {
        let (a, b) = (self.abs(), other.abs());
        let larger = if a > b { a } else { b };
        // Powers of two, so that scaling and unscaling are exact.
        let up = if larger < 1e-140 { 2.0_f64.powi(600) } else { 1.0 };
        let down = if larger < 1e-140 { 2.0_f64.powi(-600) } else { 1.0 };
        let (up, down) = if larger > 1e140 { (2.0_f64.powi(-600), 2.0_f64.powi(600)) } else { (up, down) };
        let result = ((a * up) * (a * up) + (b * up) * (b * up)).sqrt() * down;
        if a == Self::INFINITY || b == Self::INFINITY { Self::INFINITY } else { result }
    }
}

/// Returns the remainder with the sign of `x`.
#[inline(always)]
pub(super) fn fmod<T: Float>(x: T, divisor: T) -> T {
    x % divisor
}

/// Returns the remainder with the sign of the divisor, like `torch.remainder`.
#[inline(always)]
pub(super) fn remainder<T: Float>(x: T, divisor: T) -> T {
    let zero = T::from_f64(0.0);
    let rest = fmod(x, divisor);
    if rest != zero && (rest < zero) != (divisor < zero) { rest + divisor } else { rest }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these results are exact")]
mod tests {
    use crate::math::Real;
    use crate::math::ulp_error::check_ulp_error_of_pairs;

    #[test]
    fn powers_are_accurate_to_one_ulp() {
        for range in [(-3.0, 3.0), (0.0, 20.0), (-40.0, 40.0)] {
            check_ulp_error_of_pairs::<f32>(range, 1.0, Real::pow, f64::powf);
            check_ulp_error_of_pairs::<f64>(range, 1.0, Real::pow, f64::powf);
        }
    }

    #[test]
    fn hypot_has_no_intermediate_overflow() {
        check_ulp_error_of_pairs::<f32>((-3.0, 3.0), 1.0, Real::hypot, f64::hypot);
        check_ulp_error_of_pairs::<f64>((-3.0, 3.0), 2.0, Real::hypot, f64::hypot);
    }

    #[test]
    fn remainders_have_the_sign_of_the_divisor() {
        assert_eq!([Real::remainder(-5.0, 3.0), Real::remainder(5.0, -3.0), Real::fmod(-5.0, 3.0)], [1.0, -1.0, -2.0]);
        assert_eq!(Real::remainder(1.0, f64::NEG_INFINITY), f64::NEG_INFINITY);
        assert!(Real::remainder(1.0_f32, 0.0).is_nan());
    }
}
