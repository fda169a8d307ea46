//! Derivative of samples of the beta distribution.

use super::gamma_distribution::numeric_derivative;

/// Returns the derivative of a component `x` of a Dirichlet sample by its concentration `weight`, divided by `1 - x`, which is the sum of
/// the other components. The component has a beta distribution; the sum of the other concentrations, `total - weight`, is constant.
#[must_use]
pub fn implicit_gradient(x: f64, weight: f64, total: f64) -> f64 {
    let others = total - weight;
    let mean = weight / total;
    let derivative = if x < mean {
        numeric_derivative(weight, |weight| cdf(x, weight, others))
    } else {
        -numeric_derivative(weight, |weight| cdf(1.0 - x, others, weight))
    };
    -derivative * x / scaled_density(x, weight, others)
}

/// Returns `x^a (1 - x)^b / beta(a, b)`, the probability density times `x (1 - x)`.
fn scaled_density(x: f64, a: f64, b: f64) -> f64 {
    (a * x.ln() + b * (-x).ln_1p() + libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b)).exp()
}

/// Returns the cumulative distribution function at an `x` of at most about the mean, by a continued fraction with Lentz's method.
fn cdf(x: f64, a: f64, b: f64) -> f64 {
    const MIN_DENOMINATOR: f64 = 1e-290;
    let or_tiny = |value: f64| if value.abs() < MIN_DENOMINATOR { MIN_DENOMINATOR } else { value };
    let mut denominator = or_tiny(1.0 - (a + b) * x / (a + 1.0)).recip();
    let (mut numerator, mut product) = (1.0, denominator);
    for n in 1..10_000 {
        let n = f64::from(n);
        let even = n * (b - n) * x / ((a + 2.0 * n - 1.0) * (a + 2.0 * n));
        let odd = -(a + n) * (a + b + n) * x / ((a + 2.0 * n) * (a + 2.0 * n + 1.0));
        let before = product;
        for factor in [even, odd] {
            denominator = or_tiny(1.0 + factor * denominator).recip();
            numerator = or_tiny(1.0 + factor / numerator);
            product *= denominator * numerator;
        }
        if (product - before).abs() <= 1e-16 * product.abs() || product.is_nan() {
            break;
        }
    }
    scaled_density(x, a, b) / a * product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cdf_has_known_values() {
        // For the parameters two and three the function is a polynomial.
        let known = |x: f64| x * x * (6.0 - 8.0 * x + 3.0 * x * x);
        for x in [0.1, 0.3, 0.39] {
            assert!((cdf(x, 2.0, 3.0) - known(x)).abs() < 1e-14, "{x}");
            assert!((cdf(1.0 - x, 3.0, 2.0) - (1.0 - known(x))).abs() < 1e-12, "{x}");
        }
    }

    #[test]
    fn implicit_gradient_equals_the_closed_form() {
        // For the parameters `a` and one, the cumulative distribution function is a power.
        for (x, weight) in [(0.3_f64, 0.7), (0.9, 2.0)] {
            let expected = -x.powf(weight) * x.ln() / (weight * x.powf(weight - 1.0)) / (1.0 - x);
            let found = implicit_gradient(x, weight, weight + 1.0);
            assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
        }
    }
}
