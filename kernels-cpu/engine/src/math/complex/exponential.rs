//! The exponential, logarithms, and the trigonometric and hyperbolic functions of complex numbers.
//!
//! They are accurate in both parts, also where a part is the difference of almost equal numbers. They have the infinities and zeros of C, and
//! no intermediate result overflows.

use std::f64::consts::{LN_2, LN_10};

use dispatch_runtime::Complex64;

/// The number above which the exponential is computed as the square of its root.
const LARGE_EXPONENT: f64 = 700.0;

/// Returns `e^z`.
pub fn exp(z: Complex64) -> Complex64 {
    let (x, y) = (z.re, z.im);
    if y == 0.0 {
        return Complex64::new(x.exp(), y);
    }
    if x.is_infinite() && !y.is_finite() {
        return if x > 0.0 { Complex64::new(x, f64::NAN) } else { Complex64::new(0.0, 0.0) };
    }
    let (sin, cos) = y.sin_cos();
    let root = (0.5 * x).exp();
    if x > LARGE_EXPONENT {
        Complex64::new(root * cos * root, root * sin * root)
    } else {
        Complex64::new(x.exp() * cos, x.exp() * sin)
    }
}

/// Returns `e^z - 1`.
pub fn expm1(z: Complex64) -> Complex64 {
    if z.im == 0.0 {
        return Complex64::new(z.re.exp_m1(), z.im);
    }
    if z.re > 40.0 || !z.re.is_finite() {
        return exp(z) - 1.0;
    }
    let half_sin = (0.5 * z.im).sin();
    Complex64::new(z.re.exp_m1() * z.im.cos() - 2.0 * half_sin * half_sin, z.re.exp() * z.im.sin())
}

/// Returns the logarithm.
pub fn log(z: Complex64) -> Complex64 {
    let (small, large) = if z.re.abs() < z.im.abs() { (z.re.abs(), z.im.abs()) } else { (z.im.abs(), z.re.abs()) };
    let length = if (0.5..2.0).contains(&large) {
        // The square is computed with twice the digits, because the difference from 1 may be small.
        let above_one = [large.mul_add(large, -(large * large)), small.mul_add(small, -(small * small))];
        log_of_length(&[large * large, -1.0, small * small, above_one[0], above_one[1]], large.hypot(small))
    } else if large > 1e300 && large.is_finite() {
        (0.25 * large).hypot(0.25 * small).ln() + 2.0 * LN_2
    } else {
        large.hypot(small).ln()
    };
    Complex64::new(length, z.im.atan2(z.re))
}

/// Returns the logarithm to base 2.
pub fn log2(z: Complex64) -> Complex64 {
    let log = log(z);
    Complex64::new(log.re / LN_2, log.im / LN_2)
}

/// Returns the logarithm to base 10.
pub fn log10(z: Complex64) -> Complex64 {
    let log = log(z);
    Complex64::new(log.re / LN_10, log.im / LN_10)
}

/// Returns `log(1 + z)`.
pub fn log1p(z: Complex64) -> Complex64 {
    let (x, y) = (z.re, z.im);
    let square_errors = [x.mul_add(x, -(x * x)), y.mul_add(y, -(y * y))];
    let length = log_of_length(&[2.0 * x, x * x, y * y, square_errors[0], square_errors[1]], (1.0 + x).hypot(y));
    Complex64::new(length, y.atan2(1.0 + x))
}

/// Returns the logarithm of a length, whose square is 1 and the terms.
fn log_of_length(terms: &[f64], length: f64) -> f64 {
    let (mut sum, mut error) = (0.0_f64, 0.0_f64);
    for &term in terms {
        // The rounding error of the sum is exact.
        let next = sum + term;
        let added = next - sum;
        error += (sum - (next - added)) + (term - added);
        sum = next;
    }
    let above_one = sum + error;
    if above_one.abs() < 0.5 { 0.5 * above_one.ln_1p() } else { length.ln() }
}

/// Returns the hyperbolic sine.
pub fn sinh(z: Complex64) -> Complex64 {
    let (x, y) = (z.re, z.im);
    if y == 0.0 {
        return Complex64::new(x.sinh(), y);
    }
    if x == 0.0 {
        return Complex64::new(x, y.sin());
    }
    if x.is_infinite() && !y.is_finite() {
        return Complex64::new(x, f64::NAN);
    }
    let (sin, cos) = y.sin_cos();
    if x.abs() > LARGE_EXPONENT {
        let root = (0.5 * x.abs()).exp();
        return Complex64::new((0.5 * root * cos * root) * x.signum(), 0.5 * root * sin * root);
    }
    Complex64::new(x.sinh() * cos, x.cosh() * sin)
}

/// Returns the hyperbolic cosine.
pub fn cosh(z: Complex64) -> Complex64 {
    let (x, y) = (z.re, z.im);
    if y == 0.0 {
        return Complex64::new(x.cosh(), y * x.signum());
    }
    if x == 0.0 {
        return Complex64::new(y.cos(), if y.is_finite() { x * y.sin() } else { 0.0 });
    }
    if x.is_infinite() && !y.is_finite() {
        return Complex64::new(f64::INFINITY, f64::NAN);
    }
    let (sin, cos) = y.sin_cos();
    if x.abs() > LARGE_EXPONENT {
        let root = (0.5 * x.abs()).exp();
        return Complex64::new(0.5 * root * cos * root, (0.5 * root * sin * root) * x.signum());
    }
    Complex64::new(x.cosh() * cos, x.sinh() * sin)
}

/// Returns the hyperbolic tangent, by Kahan's formula.
pub fn tanh(z: Complex64) -> Complex64 {
    let (x, y) = (z.re, z.im);
    if x == 0.0 {
        return Complex64::new(x, y.tan());
    }
    if x.abs() > 22.0 && (x.is_infinite() || y.is_finite()) {
        let double_angle = if y.is_finite() { 4.0 * y.sin() * y.cos() } else { 0.0 };
        return Complex64::new(x.signum(), if y == 0.0 { y } else { double_angle * (-2.0 * x.abs()).exp() });
    }
    let (tan, sinh) = (y.tan(), x.sinh());
    let (secant_square, cosh) = (1.0 + tan * tan, (1.0 + sinh * sinh).sqrt());
    let divisor = 1.0 + secant_square * sinh * sinh;
    Complex64::new(secant_square * cosh * sinh / divisor, tan / divisor)
}

/// Returns the sine: `sinh(iz) / i`.
pub fn sin(z: Complex64) -> Complex64 {
    divide_by_i(sinh(multiply_by_i(z)))
}

/// Returns the cosine: `cosh(iz)`.
pub fn cos(z: Complex64) -> Complex64 {
    cosh(multiply_by_i(z))
}

/// Returns the tangent: `tanh(iz) / i`.
pub fn tan(z: Complex64) -> Complex64 {
    divide_by_i(tanh(multiply_by_i(z)))
}

/// Returns `iz`, with exact zeros.
pub(super) fn multiply_by_i(z: Complex64) -> Complex64 {
    Complex64::new(-z.im, z.re)
}

/// Returns `z / i`, with exact zeros.
pub(super) fn divide_by_i(z: Complex64) -> Complex64 {
    Complex64::new(z.im, -z.re)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(actual: Complex64, re: f64, im: f64) {
        for (actual, expected) in [(actual.re, re), (actual.im, im)] {
            let is_near = actual == expected || (actual - expected).abs() <= 8.0 * f64::EPSILON * expected.abs();
            assert!(is_near, "{actual:e}, expected {expected:e}");
        }
    }

    #[test]
    fn differences_of_almost_equal_numbers_keep_their_digits() {
        assert_near(log(Complex64::new(1e-20, 1.0)), 5e-41, std::f64::consts::FRAC_PI_2);
        assert_near(log(Complex64::new(1e-10, 0.999_999_999_9)), -1.000_000_082_740_371e-10, 1.570_796_326_694_896_5);
        assert_near(expm1(Complex64::new(0.0, 1e-5)), -4.999_999_999_958_333_5e-11, 9.999_999_999_833_334e-6);
    }

    #[test]
    fn large_arguments_do_not_overflow_on_the_way() {
        assert_near(exp(Complex64::new(1e5, 0.0)), f64::INFINITY, 0.0);
        assert_near(tan(Complex64::new(0.0, 1e5)), 0.0, 1.0);
        assert_near(sin(Complex64::new(0.0, 1e5)), 0.0, f64::INFINITY);
        assert_near(tanh(Complex64::new(0.0, 1.7e308)), 0.0, 1.7e308_f64.tan());
        assert_near(log(Complex64::new(1.5e308, 1.5e308)), 709.948_247_340_554_2, std::f64::consts::FRAC_PI_4);
    }
}
