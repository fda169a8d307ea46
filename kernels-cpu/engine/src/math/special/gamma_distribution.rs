//! Probabilities of the gamma distribution, and the derivative of its samples.

use std::f64::consts::PI;

/// The shape from which the distribution is computed as a normal distribution with a few correction terms.
const LARGE_SHAPE: f64 = 1e6;

/// The most terms of a series: enough for every shape below [`LARGE_SHAPE`].
const MAX_TERMS: u32 = 20_000;

/// Returns the cumulative distribution function: the probability of values below `x`.
pub fn cdf(shape: f64, x: f64) -> f64 {
    cdf_and_survival(shape, x).0
}

/// Returns the survival function: the probability of values above `x`.
pub fn survival(shape: f64, x: f64) -> f64 {
    cdf_and_survival(shape, x).1
}

/// Returns the derivative of a sample `x` by the shape, at a constant value of the cumulative distribution function.
#[must_use]
pub fn implicit_gradient(shape: f64, x: f64) -> f64 {
    // The smaller of the two probabilities has more significant digits.
    let derivative = if x < shape + 1.0 {
        numeric_derivative(shape, |shape| cdf(shape, x))
    } else {
        -numeric_derivative(shape, |shape| survival(shape, x))
    };
    -derivative * x / scaled_density(shape, x)
}

/// Returns the derivative of a function of a positive number, by differences of the fourth order.
pub(super) fn numeric_derivative(at: f64, f: impl Fn(f64) -> f64) -> f64 {
    let step = 1e-3 * at;
    let across = |step: f64| f(at + step) - f(at - step);
    (8.0 * across(step) - across(2.0 * step)) / (12.0 * step)
}

fn cdf_and_survival(shape: f64, x: f64) -> (f64, f64) {
    let (nothing, everything, unknown) = ((0.0, 1.0), (1.0, 0.0), (f64::NAN, f64::NAN));
    // Some values of one argument determine the result even if the other argument is NaN.
    match (shape, x) {
        _ if shape < 0.0 || x < 0.0 => return unknown,
        (0.0, _) => return if x > 0.0 { everything } else { unknown },
        (_, 0.0) => return nothing,
        (f64::INFINITY, f64::INFINITY) => return unknown,
        (f64::INFINITY, _) => return nothing,
        (_, f64::INFINITY) => return everything,
        _ if shape.is_nan() || x.is_nan() => return unknown,
        _ => {}
    }
    if shape > LARGE_SHAPE && (x / shape - 1.0).abs() < 0.3 {
        return normal_approximation(shape, x);
    }
    if x < shape + 1.0 {
        let below = scaled_density(shape, x) / shape * lower_gamma_series(shape, x);
        (below, 1.0 - below)
    } else {
        let above = scaled_density(shape, x) * upper_gamma_fraction(shape, x);
        (1.0 - above, above)
    }
}

/// Returns `x^shape e^-x / gamma(shape)`, the probability density times `x`.
fn scaled_density(shape: f64, x: f64) -> f64 {
    if shape < 20.0 {
        return (shape * x.ln() - x - libm::lgamma(shape)).exp();
    }
    // Stirling's formula avoids the cancellation of large numbers.
    let square = shape * shape;
    let rest = (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * square)) / square) / square) / shape;
    (shape / (2.0 * PI)).sqrt() * (-shape * half_deviance(shape, x) - rest).exp()
}

/// Returns `x / shape - 1 - log(x / shape)`.
fn half_deviance(shape: f64, x: f64) -> f64 {
    let relative = (x - shape) / shape;
    relative - relative.ln_1p()
}

/// Returns the series `1 + x / (shape + 1) + x^2 / ((shape + 1) (shape + 2)) + ..`
fn lower_gamma_series(shape: f64, x: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for n in 1..MAX_TERMS {
        term *= x / (shape + f64::from(n));
        sum += term;
        if term < 1e-17 * sum {
            break;
        }
    }
    sum
}

/// Returns the continued fraction `1 / (x + 1 - shape - 1 (1 - shape) / (x + 3 - shape - 2 (2 - shape) / ..))`, by Lentz's method.
fn upper_gamma_fraction(shape: f64, x: f64) -> f64 {
    const MIN_DENOMINATOR: f64 = 1e-290;
    let or_tiny = |value: f64| if value.abs() < MIN_DENOMINATOR { MIN_DENOMINATOR } else { value };
    let mut divisor = x + 1.0 - shape;
    let (mut above, mut below) = (1.0 / MIN_DENOMINATOR, 1.0 / or_tiny(divisor));
    let mut product = below;
    for n in 1..MAX_TERMS {
        let n = f64::from(n);
        let factor = n * (shape - n);
        divisor += 2.0;
        below = 1.0 / or_tiny(factor * below + divisor);
        above = or_tiny(divisor + factor / above);
        let step = above * below;
        product *= step;
        if (step - 1.0).abs() < 1e-16 {
            break;
        }
    }
    product
}

/// Returns the probabilities below and above `x` by Temme's expansion: those of the normal distribution at a distance whose square is
/// `2 * shape * half_deviance`, and a correction.
fn normal_approximation(shape: f64, x: f64) -> (f64, f64) {
    let half_deviance = half_deviance(shape, x);
    let eta = (2.0 * half_deviance).max(0.0).sqrt().copysign(x - shape);
    let first = [-1.0 / 3.0, 1.0 / 12.0, -2.0 / 135.0, 1.0 / 864.0, 1.0 / 2835.0, -139.0 / 777_600.0];
    let second = [-1.0 / 540.0, -1.0 / 288.0, 1.0 / 378.0];
    let at = |factors: &[f64]| factors.iter().rev().fold(0.0, |sum, factor| sum * eta + factor);
    let rest = (-shape * half_deviance).exp() / (2.0 * PI * shape).sqrt() * (at(&first) + at(&second) / shape);
    let distance = eta * (0.5 * shape).sqrt();
    (0.5 * libm::erfc(-distance) - rest, 0.5 * libm::erfc(distance) + rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cdf_satisfies_the_recurrence_in_the_shape(shape in 0.05_f64..300.0, ratio in 0.1_f64..3.0) {
            let x = shape * ratio;
            let step = cdf(shape, x) - cdf(shape + 1.0, x);
            let expected = scaled_density(shape, x) / shape;
            prop_assert!((step - expected).abs() < 1e-13, "{step} {expected}");
        }

        #[test]
        fn normal_approximation_agrees_at_the_limit(distance in -5.0_f64..5.0) {
            let shape = LARGE_SHAPE;
            let x = shape + distance * shape.sqrt();
            let (near, far) = (normal_approximation(shape, x), cdf_and_survival(shape, x));
            prop_assert!((near.0 - far.0).abs() < 1e-11 && (near.1 - far.1).abs() < 1e-11, "{near:?} {far:?}");
        }
    }

    #[test]
    fn implicit_gradient_keeps_the_cdf_constant() {
        for (shape, x) in [(1.0, 1.0), (100.0, 90.0), (0.1, 1e-6), (2.0, 9.0)] {
            let (found, h) = (implicit_gradient(shape, x), 1e-6 * shape);
            let change = cdf(shape + h, x + h * found) - cdf(shape - h, x - h * found);
            assert!((change / (2.0 * h)).abs() < 1e-7, "{shape} {x}: {found}");
        }
    }

    #[test]
    fn cdf_and_survival_have_known_values() {
        assert!((cdf(3.0, 3.0) - 0.576_809_918_873_156_5).abs() < 1e-15);
        assert!((survival(3.0, 3.0) - 0.423_190_081_126_843_5).abs() < 1e-15);
        assert!((cdf(1.0, 2.0) - (1.0 - (-2.0_f64).exp())).abs() < 1e-15);
        assert_eq!(cdf_and_survival(1.0, f64::INFINITY), (1.0, 0.0));
        assert_eq!(cdf_and_survival(f64::INFINITY, 1.0), (0.0, 1.0));
        assert_eq!(cdf_and_survival(2.0, 0.0), (0.0, 1.0));
        assert_eq!(cdf_and_survival(f64::NAN, f64::INFINITY), (1.0, 0.0));
        assert_eq!(cdf_and_survival(f64::INFINITY, f64::NAN), (0.0, 1.0));
        assert!(cdf(-1.0, 1.0).is_nan() && cdf(0.0, 0.0).is_nan() && cdf(1.0, f64::NAN).is_nan());
    }
}
