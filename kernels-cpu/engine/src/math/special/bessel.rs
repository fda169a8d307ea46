//! Modified Bessel functions, and the spherical Bessel function of order zero.
//!
//! The functions of the first kind are computed by power series for small arguments, whose terms have one sign, and by asymptotic series
//! for large arguments. The functions of the second kind are integrals of analytic functions that decay faster than any exponential. For
//! such an integrand the trapezoidal rule is accurate to the last digits.

use std::f64::consts::{LN_2, PI};

/// Returns the modified Bessel function of the first kind, of order zero.
pub fn i0(x: f64) -> f64 {
    modified_bessel_first_kind(0.0, x.abs(), false)
}

/// Returns the modified Bessel function of the first kind, of order one.
pub fn i1(x: f64) -> f64 {
    modified_bessel_first_kind(1.0, x.abs(), false).copysign(x)
}

/// Returns `e^-|x|` times [`i0`].
pub fn scaled_i0(x: f64) -> f64 {
    modified_bessel_first_kind(0.0, x.abs(), true)
}

/// Returns `e^-|x|` times [`i1`].
pub fn scaled_i1(x: f64) -> f64 {
    modified_bessel_first_kind(1.0, x.abs(), true).copysign(x)
}

/// Returns the modified Bessel function of the second kind.
pub fn k(order: f64, x: f64) -> f64 {
    scaled_k(order, x) * (-x).exp()
}

/// Returns `e^x` times [`k`]: the integral of `e^(x - x cosh t) cosh(order t)` over all `t` from zero.
pub fn scaled_k(order: f64, x: f64) -> f64 {
    match x {
        0.0 => return f64::INFINITY,
        f64::INFINITY => return 0.0,
        _ if x < 0.0 => return f64::NAN,
        _ => {}
    }
    // The neglected rest of the integral is less than e^-45 of the whole.
    let end = if x < 1e-150 { LN_2 + 45_f64.ln() - x.ln() } else { acosh_of_one_plus(45.0 / x) };
    let (step, steps) = trapezoid_step_and_count(end);
    let at = |i: u32| {
        let t = f64::from(i) * step;
        let half = (0.5 * t).sinh();
        (-2.0 * x * half * half).exp() * (order * t).cosh()
    };
    step * (0.5 + (1..=steps).map(at).sum::<f64>())
}

/// Returns `acosh(1 + x)`, accurate also for an `x` that is negligible against 1.
pub(super) fn acosh_of_one_plus(x: f64) -> f64 {
    (x + (x * (x + 2.0)).sqrt()).ln_1p()
}

/// Returns `f(x)`, or NaN for an infinite `x`: PyTorch gives oscillating functions no limit.
pub fn nan_at_infinity(x: f64, f: impl Fn(f64) -> f64) -> f64 {
    if x.is_infinite() { f64::NAN } else { f(x) }
}

/// Returns `sin(x) / x`.
pub fn spherical_j0(x: f64) -> f64 {
    match x.abs() {
        0.0 => 1.0,
        f64::INFINITY => 0.0,
        _ => x.sin() / x,
    }
}

/// Returns the step and the number of steps of the trapezoidal rule for an integrand that ends at `end`.
pub(super) fn trapezoid_step_and_count(end: f64) -> (f64, u32) {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the end is at most 750")]
    let steps = (end / 0.11).ceil().max(40.0) as u32;
    (end / f64::from(steps), steps)
}

/// Returns the modified Bessel function of the first kind of order 0 or 1, for an argument that is not negative; times `e^-x` if `scaled`
/// is true.
fn modified_bessel_first_kind(order: f64, x: f64, scaled: bool) -> f64 {
    if x < 20.0 {
        let square = 0.25 * x * x;
        let (mut term, mut sum, mut n) = (1.0, 1.0, 1.0);
        while term > 1e-17 * sum {
            term *= square / (n * (n + order));
            sum += term;
            n += 1.0;
        }
        let scale = if scaled { (-x).exp() } else { 1.0 };
        return scale * sum * if order == 0.0 { 1.0 } else { 0.5 * x };
    }
    let (mut term, mut sum) = (1.0, 1.0);
    for n in 1..30 {
        let odd = f64::from(2 * n - 1);
        term *= (odd * odd - 4.0 * order * order) / (8.0 * f64::from(n) * x);
        sum += term;
    }
    let scale = if scaled { 1.0 } else { x.exp() };
    scale * sum / ((2.0 * PI).sqrt() * x.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn functions_of_both_kinds_have_the_known_wronskian(x in 1e-6_f64..600.0) {
            // The Wronskian of both functions, times `x`, is one.
            let found = scaled_i0(x) * scaled_k(1.0, x) + scaled_i1(x) * scaled_k(0.0, x);
            prop_assert!((found * x - 1.0).abs() < 1e-14);
        }
    }

    #[test]
    fn bessel_functions_have_known_values() {
        let near = |found: f64, known: f64| assert!((found / known - 1.0).abs() < 4e-15, "{found}, not {known}");
        near(i0(1.0), 1.266_065_877_752_008_4);
        near(i1(-3.5), -6.205_834_922_258_364);
        near(i0(25.0), 5_774_560_606.466_31);
        near(k(0.0, 1.0), 0.421_024_438_240_708_34);
        near(k(1.0, 2.0), 0.139_865_881_816_522_43);
        near(scaled_k(0.0, 1e-320), 736.943_172_406_632_2);
        near(scaled_k(1.0, 1e300), 1.253_314_137_315_500_2e-150);
        assert_eq!((k(0.0, f64::INFINITY), scaled_k(1.0, f64::INFINITY)), (0.0, 0.0));
        assert!(
            nan_at_infinity(f64::INFINITY, libm::j0).is_nan() && nan_at_infinity(f64::NEG_INFINITY, libm::j1).is_nan()
        );
        assert_eq!((i0(f64::MAX), i1(f64::MIN)), (f64::INFINITY, f64::NEG_INFINITY));
    }
}
