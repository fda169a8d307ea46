//! Cumulative distribution function and quantiles of the normal distribution.

use std::f64::consts::{FRAC_1_SQRT_2, LN_2, PI, SQRT_2};

use crate::math::Real;

/// Returns the logarithm of the cumulative distribution function.
pub fn log_cdf(x: f64) -> f64 {
    let t = x * FRAC_1_SQRT_2;
    if x < -1.0 { Real::erfcx(-t).ln() - LN_2 - t * t } else { (-0.5 * Real::erfc(t)).ln_1p() }
}

/// Returns the quantile: the value whose cumulative probability is `probability`.
pub fn quantile(probability: f64) -> f64 {
    if !(0.0..=1.0).contains(&probability) {
        return f64::NAN;
    }
    if (0.1..=0.9).contains(&probability) {
        return SQRT_2 * Real::erfinv(2.0 * probability - 1.0);
    }
    if probability > 0.5 { -lower_tail_quantile(1.0 - probability) } else { lower_tail_quantile(probability) }
}

/// Returns the quantile of a small probability, by Newton's method on the logarithm. The logarithm is so nearly linear that each step
/// doubles the digits.
fn lower_tail_quantile(probability: f64) -> f64 {
    let log = probability.ln();
    if log.is_infinite() {
        return log;
    }
    let first = -2.0 * log - (2.0 * PI).ln();
    let mut x = -(first - first.max(1.0).ln()).max(1.0).sqrt();
    for _ in 0..5 {
        let derivative = (2.0 / PI).sqrt() / Real::erfcx(-x * FRAC_1_SQRT_2);
        x -= (log_cdf(x) - log) / derivative;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn quantile_inverts_the_cdf(x in -37.0_f64..5.0) {
            let probability = log_cdf(x).exp();
            // The change of the quantile for one unit in the last place of the probability.
            let unit = f64::EPSILON * (2.0 * PI).sqrt() * probability * (0.5 * x * x).exp();
            prop_assert!((quantile(probability) - x).abs() <= 1e-13 * (1.0 + x.abs()) + 2.0 * unit);
        }
    }

    #[test]
    fn quantile_is_right_at_limits_and_nan_for_invalid_arguments() {
        assert_eq!(quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(quantile(1.0), f64::INFINITY);
        assert_eq!(quantile(0.5), 0.0);
        assert!(quantile(-0.1).is_nan() && quantile(f64::NAN).is_nan());
        assert!((quantile(1e-320) + 38.269_125_343_032_65).abs() < 1e-3);
        assert!((log_cdf(-3.5) + 8.366_065_308_344_094).abs() < 1e-14);
        assert_eq!(log_cdf(f64::INFINITY), 0.0);
        assert_eq!(log_cdf(f64::NEG_INFINITY), f64::NEG_INFINITY);
    }
}
