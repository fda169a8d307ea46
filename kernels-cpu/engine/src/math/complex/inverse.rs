//! The square root and the inverse trigonometric and hyperbolic functions of complex numbers.
//!
//! They are accurate in both parts, also near the branch points, and on a branch cut the sign of a zero decides for its side, as in C. The
//! formulas are those of W. Kahan, *Branch Cuts for Complex Elementary Functions*, 1987. They subtract nothing that is almost equal.

use std::f64::consts::{FRAC_PI_2, LN_2};

use dispatch_runtime::Complex64;

use super::exponential::{divide_by_i, multiply_by_i};
use crate::math::Real;

/// Returns the square root whose real part is not negative.
pub fn sqrt(z: Complex64) -> Complex64 {
    if z.re == 0.0 && z.im == 0.0 {
        return Complex64::new(0.0, z.im);
    }
    if z.im.is_infinite() {
        return Complex64::new(f64::INFINITY, z.im);
    }
    // Sums of very large parts would overflow, and quotients of very small ones would be denormal.
    let largest = z.re.abs().max(z.im.abs());
    if largest > 1e300 && largest.is_finite() {
        return sqrt(z * 0.25) * 2.0;
    }
    if z.re.abs() + z.im.abs() < 1e-290 {
        return sqrt(z * 2_f64.powi(108)) * 2_f64.powi(-54);
    }
    let root = (0.5 * (z.re.abs() + z.re.hypot(z.im))).sqrt();
    if z.re >= 0.0 {
        Complex64::new(root, z.im / (2.0 * root))
    } else {
        Complex64::new(z.im.abs() / (2.0 * root), root.copysign(z.im))
    }
}

/// Returns the inverse cosine.
pub fn acos(z: Complex64) -> Complex64 {
    if z.re.is_infinite() || z.im.is_infinite() {
        return Complex64::new(z.im.abs().atan2(z.re), f64::INFINITY.copysign(-z.im));
    }
    let (below, above) = roots_around(z);
    Complex64::new(2.0 * below.re.atan2(above.re), Real::asinh(above.re * below.im - above.im * below.re))
}

/// Returns the inverse sine.
pub fn asin(z: Complex64) -> Complex64 {
    if z.re.is_infinite() || z.im.is_infinite() {
        return Complex64::new(z.re.atan2(z.im.abs()), f64::INFINITY.copysign(z.im));
    }
    let (below, above) = roots_around(z);
    let real = z.re.atan2(below.re * above.re - below.im * above.im);
    Complex64::new(real, Real::asinh(below.re * above.im - below.im * above.re))
}

/// Returns the inverse hyperbolic cosine.
pub fn acosh(z: Complex64) -> Complex64 {
    if z.re.is_infinite() || z.im.is_infinite() {
        return Complex64::new(f64::INFINITY, z.im.atan2(z.re));
    }
    let (below, above) = (sqrt(Complex64::new(z.re - 1.0, z.im)), sqrt(Complex64::new(z.re + 1.0, z.im)));
    Complex64::new(Real::asinh(below.re * above.re + below.im * above.im), 2.0 * below.im.atan2(above.re))
}

/// Returns the inverse hyperbolic sine: `asin(iz) / i`.
pub fn asinh(z: Complex64) -> Complex64 {
    divide_by_i(asin(multiply_by_i(z)))
}

/// Returns the inverse hyperbolic tangent.
pub fn atanh(z: Complex64) -> Complex64 {
    let (x, y) = (z.re.abs(), z.im);
    if x.is_infinite() || y.is_infinite() {
        return Complex64::new(0_f64.copysign(z.re), FRAC_PI_2.copysign(y));
    }
    let size = x.max(y.abs());
    if size > 1e100 && !z.is_nan() {
        let real = x / size / (1.0 + (x.min(y.abs()) / size).powi(2)) / size;
        return Complex64::new(real.copysign(z.re), FRAC_PI_2.copysign(y));
    }
    let real = if x == 1.0 && y.abs() < 1e-100 {
        0.5 * (LN_2 - y.abs().ln())
    } else {
        0.25 * Real::log1p(4.0 * x / ((1.0 - x).powi(2) + y * y))
    };
    let angle = (2.0 * y).atan2((1.0 - x) * (1.0 + x) - y * y);
    Complex64::new(real.copysign(z.re), 0.5 * angle)
}

/// Returns the inverse tangent: `atanh(iz) / i`.
pub fn atan(z: Complex64) -> Complex64 {
    divide_by_i(atanh(multiply_by_i(z)))
}

/// Returns the square roots of `1 - z` and `1 + z`.
fn roots_around(z: Complex64) -> (Complex64, Complex64) {
    (sqrt(Complex64::new(1.0 - z.re, -z.im)), sqrt(Complex64::new(1.0 + z.re, z.im)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks both parts to a few units in the last place, and the signs of zeros.
    fn assert_near(actual: Complex64, re: f64, im: f64) {
        for (actual, expected) in [(actual.re, re), (actual.im, im)] {
            let is_near = (actual - expected).abs() <= 4.0 * f64::EPSILON * expected.abs();
            assert!(
                is_near && actual.is_sign_positive() == expected.is_sign_positive(),
                "{actual:e}, expected {expected:e}"
            );
        }
    }

    #[test]
    fn inverse_functions_are_accurate_near_branch_points() {
        let near_one = Complex64::new(1.0 + 1e-8, 1e-9);
        assert_near(acosh(near_one), 0.000_141_597_582_841_739_53, 7.062_267_424_327_042e-6);
        assert_near(acos(near_one), 7.062_267_424_327_042e-6, -0.000_141_597_582_841_739_53);
        assert_near(asin(near_one), 1.570_789_264_527_472_4, 0.000_141_597_582_841_739_53);
        assert_near(acosh(Complex64::new(1.000_001, 1e-30)), 0.001_414_213_444_463_82, 7.071_066_044_390_042e-28);
    }

    #[test]
    fn the_sign_of_a_zero_is_the_side_of_a_branch_cut() {
        for sign in [1.0, -1.0] {
            let zero = 0_f64.copysign(sign);
            assert_near(sqrt(Complex64::new(-4.0, zero)), 0.0, 2.0 * sign);
            assert_near(acos(Complex64::new(1.0 + 1e-14, zero)), 0.0, -sign * 1.413_648_274_616_171_3e-7);
            assert_near(asin(Complex64::new(1.0 + 1e-14, zero)), FRAC_PI_2, sign * 1.413_648_274_616_171_3e-7);
            assert_near(atanh(Complex64::new(2.0, zero)), 0.549_306_144_334_054_8, sign * FRAC_PI_2);
        }
    }

    #[test]
    fn large_and_infinite_numbers_do_not_overflow() {
        assert_near(sqrt(Complex64::new(1e308, 0.0)), 1e154, 0.0);
        assert_near(atan(Complex64::new(1e200, 1e200)), FRAC_PI_2, 5e-201);
        assert_eq!(
            acos(Complex64::new(f64::NEG_INFINITY, 1.0)),
            Complex64::new(std::f64::consts::PI, f64::NEG_INFINITY)
        );
    }

    #[test]
    fn the_square_root_of_a_number_with_one_nan_part_is_nan() {
        for z in [Complex64::new(0.0, f64::NAN), Complex64::new(f64::NAN, 1e-300), Complex64::new(1e308, f64::NAN)] {
            assert!(sqrt(z).re.is_nan() && sqrt(z).im.is_nan(), "{z}");
        }
    }
}
