//! The Airy function `Ai` of a real argument.

use std::f64::consts::PI;

use dispatch_runtime::Complex64;

use super::bessel::{acosh_of_one_plus, scaled_k, trapezoid_step_and_count};

/// Returns the Airy function `Ai`: by its power series near zero, by Bessel functions of order one third for large `x`, and by an integral
/// for negative `x`.
pub fn ai(x: f64) -> f64 {
    if x > 1.0 {
        let zeta = 2.0 / 3.0 * x * x.sqrt();
        (x / 3.0).sqrt() / PI * (-zeta).exp() * scaled_k(1.0 / 3.0, zeta)
    } else if x > -2.0 {
        power_series(x)
    } else {
        ai_of_negative(-x)
    }
}

/// Returns the power series: the sum of two solutions, one with the terms 1, `x^3`, `x^6`, .., the other with `x`, `x^4`, `x^7`, ..
fn power_series(x: f64) -> f64 {
    const VALUE_AT_ZERO: f64 = 0.355_028_053_887_817_2;
    const DERIVATIVE_AT_ZERO: f64 = -0.258_819_403_792_806_8;
    let cube = x * x * x;
    let (mut even, mut odd) = (VALUE_AT_ZERO, DERIVATIVE_AT_ZERO * x);
    let mut sum = even + odd;
    for n in 1..25 {
        let n = 3.0 * f64::from(n);
        even *= cube / (n * (n - 1.0));
        odd *= cube / (n * (n + 1.0));
        sum += even + odd;
    }
    sum
}

/// Returns the function of `-z`, as an integral over the path of steepest descent, on which the integrand does not oscillate.
fn ai_of_negative(z: f64) -> f64 {
    const BESSEL_ORDER: f64 = 1.0 / 3.0;
    let zeta = 2.0 * z * z.sqrt() / 3.0;
    let size = 45.0 / zeta;
    let (step, steps) =
        trapezoid_step_and_count(acosh_of_one_plus(0.5 * size * (1.0 + size / (2.0 + (size * size + 4.0).sqrt()))));
    let at = |i: u32| {
        let s = f64::from(i) * step;
        // The imaginary part of a point of the path.
        let height = s.sinh().atan();
        let (a, b) = (BESSEL_ORDER * s, BESSEL_ORDER * height);
        let wave = Complex64::new(a.cosh() * b.cos(), a.sinh() * b.sin());
        wave * Complex64::new(1.0, 1.0 / s.cosh()) * (-zeta * s.sinh() * s.tanh()).exp()
    };
    let integral = Complex64::new(1.0, 1.0) + (1..=steps).map(at).sum::<Complex64>() * 2.0;
    (z / 3.0).sqrt() / PI * step * (Complex64::new(zeta.cos(), zeta.sin()) * integral).im
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ai_has_known_values() {
        let known = [
            (0.0, 0.355_028_053_887_817_2),
            (1.5, 0.071_749_497_008_105_4),
            (3.0, 0.006_591_139_357_460_717),
            (-2.0, 0.227_407_428_201_685_57),
            (-3.0, -0.378_814_293_677_658_07),
            (-200.0, 0.148_893_942_481_8),
        ];
        for (x, value) in known {
            assert!((ai(x) - value).abs() < 1e-11, "{x}: {}, not {value}", ai(x));
        }
        let far = PI.sqrt() * 1e20_f64.powf(0.25) * ai(-1e20);
        let zeta = 2.0 * 1e30_f64 / 3.0;
        assert!((far - 0.5_f64.sqrt() * (zeta.sin() + zeta.cos())).abs() < 1e-9, "{far}");
        assert_eq!(ai(f64::MAX), 0.0);
        assert!(ai(f64::NAN).is_nan());
    }

    #[test]
    fn ai_is_continuous_where_its_formula_changes() {
        for x in [1.0_f64, -2.0] {
            let (left, right) = (ai(x.next_down()), ai(x.next_up()));
            assert!((left - right).abs() < 1e-15, "{left} {right}");
        }
    }

    #[test]
    fn ai_satisfies_the_airy_equation() {
        for i in -80..20 {
            let (x, h) = (f64::from(i) * 0.25, 1e-3);
            let second_derivative = (ai(x + h) - 2.0 * ai(x) + ai(x - h)) / (h * h);
            assert!((second_derivative - x * ai(x)).abs() < 1e-4, "{x}: {second_derivative}");
        }
    }
}
