//! Rarely used functions, computed in `f64`, one element at a time.

use dispatch_runtime::Floating;

use super::float::Float;
use crate::inlined::inlined;

pub(super) trait GammaAndErfinv: Float {
    fn lgamma(self) -> Self;
    fn digamma(self) -> Self;
    fn polygamma(self, order: Self) -> Self;
    fn erfinv(self) -> Self;
}

inlined! {
    impl GammaAndErfinv for f32 {
        fn lgamma(self) -> Self = Self::from_f64(libm::lgamma(f64::from(self)));
        fn digamma(self) -> Self = Self::from_f64(GammaAndErfinv::digamma(f64::from(self)));
        fn polygamma(self, order: Self) -> Self = Self::from_f64(GammaAndErfinv::polygamma(f64::from(self), f64::from(order)));
        fn erfinv(self) -> Self = Self::from_f64(GammaAndErfinv::erfinv(f64::from(self)));
    }
}

impl GammaAndErfinv for f64 {
    /// Calls the crate `libm`, because the standard library's `ln_gamma` is unstable.
    fn lgamma(self) -> Self {
        libm::lgamma(self)
    }

    /// Increases the argument by the recurrence to the range of the asymptotic series. Negative arguments are reflected first.
    fn digamma(self) -> Self {
        if self == 0.0 {
            return Self::INFINITY.copysign(-self);
        }
        if self < 0.0 {
            let fraction = self % 1.0;
            let reflection = std::f64::consts::PI / (std::f64::consts::PI * fraction).tan();
            return if fraction == 0.0 || self.is_infinite() {
                Self::NAN
            } else {
                GammaAndErfinv::digamma(1.0 - self) - reflection
            };
        }
        let (mut x, mut shifted) = (self, 0.0);
        while x < 12.0 {
            shifted -= 1.0 / x;
            x += 1.0;
        }
        let z = 1.0 / (x * x);
        let series = z * (1.0 / 12.0 - z * (1.0 / 120.0 - z * (1.0 / 252.0 - z * (1.0 / 240.0 - z * (1.0 / 132.0)))));
        shifted + x.ln() - 0.5 / x - series
    }

    /// Computes `(-1)^(n+1) n! zeta(n + 1, x)` for the order `n`.
    fn polygamma(self, order: Self) -> Self {
        if order == 0.0 {
            return GammaAndErfinv::digamma(self);
        }
        // PyTorch treats infinite arguments specially for this order only; for higher orders it evaluates the sum.
        if order == 1.0 && self.is_infinite() {
            return if self > 0.0 { 0.0 } else { Self::NAN };
        }
        let (s, sign) = (order + 1.0, if order % 2.0 == 0.0 { -1.0 } else { 1.0 });
        sign * libm::tgamma(s) * zeta(s, self)
    }

    /// Evaluates a closed form correct to three digits, and refines the result by three steps that each triple the digits.
    #[expect(clippy::float_cmp, reason = "the poles are exact")]
    fn erfinv(self) -> Self {
        let a = self.abs();
        if !(1e-300..1.0).contains(&a) {
            let pole = if a == 1.0 { Self::INFINITY.copysign(self) } else { Self::NAN };
            return if a < 1.0 { self * 0.5 * std::f64::consts::PI.sqrt() } else { pole };
        }
        let log = (-a * a).ln_1p();
        let half = 2.0 / (std::f64::consts::PI * 0.147) + 0.5 * log;
        let product = log / 0.147;
        // The plain difference of the root and `half` would cancel for small arguments.
        let mut x = (-product / (half + (half * half - product).sqrt())).sqrt();
        for _ in 0..3 {
            let above = if a < 0.5 { libm::erf(x) - a } else { (1.0 - a) - libm::erfc(x) };
            let step = above * 0.5 * std::f64::consts::PI.sqrt() * (x * x).exp();
            x -= step / (1.0 + x * step);
        }
        x.copysign(self)
    }
}

/// Returns the Hurwitz zeta function: the sum of `(x + k)^-s` over all `k >= 0`. For a negative `x`, the terms below zero are a difference
/// of two sums over positive numbers.
pub fn zeta(s: f64, x: f64) -> f64 {
    if s < 1.0 {
        return f64::NAN;
    }
    // At a pole the result is infinity even if the other argument is NaN.
    if s == 1.0 || x <= 0.0 && (x == x.floor() || s.is_infinite()) {
        return f64::INFINITY;
    }
    if x < 0.0 && s % 1.0 != 0.0 {
        return f64::NAN;
    }
    if x > 0.0 {
        return zeta_of_positive(s, x);
    }
    let (fraction, sign) = (-x % 1.0, if s % 2.0 == 0.0 { 1.0 } else { -1.0 });
    sign * (zeta_of_positive(s, fraction) - zeta_of_positive(s, 1.0 - x)) + zeta_of_positive(s, 1.0 - fraction)
}

/// Returns the zeta function of a positive `x`: term by term up to the range of the Euler-Maclaurin series.
fn zeta_of_positive(s: f64, x: f64) -> f64 {
    const SERIES_COEFFICIENTS: [f64; 6] = [
        1.0 / 12.0,
        -1.0 / 720.0,
        1.0 / 30_240.0,
        -1.0 / 1_209_600.0,
        1.0 / 47_900_160.0,
        -691.0 / 1_307_674_368_000.0,
    ];
    // Like PyTorch, returns NaN for infinite arguments, not the limit of the function.
    if x.is_infinite() || s.is_infinite() && x > 1.0 {
        return f64::NAN;
    }
    // Beyond `s = 171` the factorial in `polygamma` overflows, so more terms are not needed.
    let (mut x, mut sum, start) = (x, 0.0, 10.0 + s.min(171.0));
    while x < start {
        sum += x.powf(-s);
        x += 1.0;
    }
    let term = x.powf(-s);
    if term == 0.0 {
        return sum;
    }
    sum += term * (x / (s - 1.0) + 0.5);
    let (mut rising, mut next) = (term * s / x, s + 1.0);
    for factor in SERIES_COEFFICIENTS {
        sum += factor * rising;
        rising *= next * (next + 1.0) / (x * x);
        next += 2.0;
    }
    sum
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these results are exact")]
mod tests {
    use crate::math::Real;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn erfinv_inverts_erf(x in -4.0_f64..4.0) {
            let y = libm::erf(x);
            // The derivative of `erf`, which determines the effect of one unit in the last place of its value.
            let slope = 2.0 / std::f64::consts::PI.sqrt() * (-x * x).exp();
            prop_assert!((Real::erfinv(y) - x).abs() <= 4e-16 * (1.0 + x.abs() + 1.0 / slope));
        }

        #[test]
        fn digamma_recurrence_holds(x in -20.0_f64..20.0) {
            let (here, next) = (Real::digamma(x), Real::digamma(x + 1.0));
            prop_assert!((next - here - 1.0 / x).abs() <= 1e-12 * (1.0 + here.abs() + next.abs() + (x.round() - x).powi(-2)));
        }
    }

    #[test]
    fn polygamma_is_the_derivative_of_the_previous_order() {
        for order in 1..5_i32 {
            for x in [-3.3, -0.5, 0.2, 1.0, 4.5, 30.0] {
                let (before, h) = (f64::from(order) - 1.0, 1e-5);
                let slope = (Real::polygamma(x + h, before) - Real::polygamma(x - h, before)) / (2.0 * h);
                let found: f64 = Real::polygamma(x, f64::from(order));
                assert!((found - slope).abs() <= 1e-6 * (1.0 + slope.abs()), "{order} {x}: {found} {slope}");
            }
        }
    }

    #[test]
    fn polygamma_and_zeta_have_known_values() {
        assert!((Real::polygamma(1.0_f64, 1.0) - std::f64::consts::PI.powi(2) / 6.0).abs() < 4e-15);
        assert_eq!(Real::polygamma(0.0_f64, 1.0), f64::INFINITY);
        assert_eq!(Real::polygamma(f64::INFINITY, 1.0), 0.0);
        assert!(Real::polygamma(f64::INFINITY, 2.0).is_nan());
        assert!((super::zeta(3.0, -0.5) - 0.414_398_322_117_16).abs() < 1e-13);
        assert!((super::zeta(1000.0, 2.0) / 9.332_636_185_032_189e-302 - 1.0).abs() < 1e-12);
        for (s, x) in [(2.0, -1.0), (f64::NAN, -1.0), (3.0, f64::NEG_INFINITY), (f64::INFINITY, -1.5)] {
            assert_eq!(super::zeta(s, x), f64::INFINITY);
        }
        assert_eq!(Real::polygamma(f64::NEG_INFINITY, 2.0), f64::NEG_INFINITY);
        assert!(
            super::zeta(2.5, -0.5).is_nan() && super::zeta(0.5, 1.0).is_nan() && super::zeta(f64::NAN, 1.0).is_nan()
        );
        assert!((Real::digamma(1.0_f64) + 0.577_215_664_901_532_9).abs() < 4e-15);
        assert_eq!(Real::digamma(0.0_f64), f64::NEG_INFINITY);
        assert!(Real::digamma(-3.0_f64).is_nan());
        assert_eq!(Real::lgamma(3.0_f32), std::f32::consts::LN_2);
        assert_eq!(Real::erfinv(1.0_f32), f32::INFINITY);
        assert!(Real::erfinv(1.5_f64).is_nan());
    }
}
