//! Orthogonal polynomials of any degree.
//!
//! Each polynomial is computed from the two of lower degree. High degrees use closed or asymptotic forms instead. A degree is truncated to
//! an integer; for negative ones the result is 0.

use super::bessel::scaled_i0;

/// A kind of Chebyshev polynomials. The kinds differ in the polynomial of degree one.
#[derive(Clone, Copy)]
pub enum ChebyshevKind {
    /// `T`, whose polynomial of degree one is `x`.
    First,
    /// `U`, whose polynomial of degree one is `2x`.
    Second,
    /// `V`, whose polynomial of degree one is `2x - 1`.
    Third,
    /// `W`, whose polynomial of degree one is `2x + 1`.
    Fourth,
}

/// The degrees above which recurrences are not used.
const MAX_RECURRENCE_DEGREE: f64 = 1000.0;
const MAX_LEGENDRE_RECURRENCE_DEGREE: f64 = 1e6;

impl ChebyshevKind {
    /// Returns the polynomial of a degree at `x`.
    pub fn evaluate(self, x: f64, degree: f64) -> f64 {
        let Some(n) = truncated_degree(degree) else { return 0.0 };
        if x < 0.0 {
            return if n % 2.0 == 0.0 {
                self.mirrored_kind().evaluate(-x, n)
            } else {
                -self.mirrored_kind().evaluate(-x, n)
            };
        }
        if x == 1.0 {
            return match self {
                Self::First | Self::Third => 1.0,
                Self::Second => n + 1.0,
                Self::Fourth => 2.0 * n + 1.0,
            };
        }
        if x < 1.0 && n > 8.0 {
            self.evaluate_at_angle(n, x.acos(), f64::cos, f64::sin)
        } else if n > MAX_RECURRENCE_DEGREE {
            self.evaluate_at_angle(n, x.acosh(), f64::cosh, f64::sinh)
        } else {
            let first = match self {
                Self::First => x,
                Self::Second => 2.0 * x,
                Self::Third => 2.0 * x - 1.0,
                Self::Fourth => 2.0 * x + 1.0,
            };
            evaluate_recurrence(n, first, |_, p, before| 2.0 * x * p - before)
        }
    }

    /// Returns the kind `K` with `self(-x) = K(x)` up to the sign.
    fn mirrored_kind(self) -> Self {
        match self {
            Self::Third => Self::Fourth,
            Self::Fourth => Self::Third,
            symmetric => symmetric,
        }
    }

    fn evaluate_at_angle(self, n: f64, angle: f64, cos: fn(f64) -> f64, sin: fn(f64) -> f64) -> f64 {
        match self {
            Self::First => cos(n * angle),
            Self::Second => sin((n + 1.0) * angle) / sin(angle),
            Self::Third => cos((n + 0.5) * angle) / cos(0.5 * angle),
            Self::Fourth => sin((n + 0.5) * angle) / sin(0.5 * angle),
        }
    }
}

/// Returns a Hermite polynomial, whose leading coefficient is a power of `scale`, 1 or 2. Degrees above `MAX_RECURRENCE_DEGREE` overflow,
/// so the result is NaN.
pub fn hermite(x: f64, degree: f64, scale: f64) -> f64 {
    match truncated_degree(degree) {
        None => 0.0,
        Some(n) if n > MAX_RECURRENCE_DEGREE => f64::NAN,
        Some(n) => evaluate_recurrence(n, scale * x, |k, p, before| scale * (x * p - k * before)),
    }
}

/// Returns the Laguerre polynomial of a degree at `x`.
pub fn laguerre(x: f64, degree: f64) -> f64 {
    let Some(n) = truncated_degree(degree) else { return 0.0 };
    if n > MAX_LEGENDRE_RECURRENCE_DEGREE {
        return (0.5 * x).exp() * bessel_j0_or_i0((n + 0.5) * x);
    }
    evaluate_recurrence(n, 1.0 - x, |k, p, before| ((2.0 * k + 1.0 - x) * p - k * before) / (k + 1.0))
}

/// Returns the Legendre polynomial of a degree at `x`.
pub fn legendre(x: f64, degree: f64) -> f64 {
    let Some(n) = truncated_degree(degree) else { return 0.0 };
    if n > MAX_LEGENDRE_RECURRENCE_DEGREE {
        let size = x.abs();
        let sign = if x < 0.0 && n % 2.0 != 0.0 { -1.0 } else { 1.0 };
        let (angle, stretch, square) = if size < 1.0 {
            let angle = size.acos();
            (angle, angle.sin(), angle * angle)
        } else {
            let angle = size.acosh();
            (angle, angle.sinh(), -angle * angle)
        };
        let scale = if angle == 0.0 { 1.0 } else { (angle / stretch).sqrt() };
        return sign * scale * bessel_j0_or_i0(0.25 * (n + 0.5) * (n + 0.5) * square);
    }
    evaluate_recurrence(n, x, |k, p, before| ((2.0 * k + 1.0) * x * p - k * before) / (k + 1.0))
}

/// Returns the Bessel function `J0` of `2 sqrt(square)`; the modified one, `I0`, if `square` is negative.
fn bessel_j0_or_i0(square: f64) -> f64 {
    let x = 2.0 * square.abs().sqrt();
    if square < 0.0 { scaled_i0(x) * x.exp() } else { libm::j0(x) }
}

fn truncated_degree(degree: f64) -> Option<f64> {
    let n = degree.trunc();
    (n >= 0.0).then_some(n)
}

/// Evaluates a recurrence from the polynomials of degree 0, which is 1, and 1 up to degree `n`.
fn evaluate_recurrence(n: f64, first: f64, next: impl Fn(f64, f64, f64) -> f64) -> f64 {
    if n == 0.0 {
        return 1.0;
    }
    let (mut before, mut p, mut k) = (1.0, first, 1.0);
    while k < n && !p.is_nan() {
        (before, p) = (p, next(k, p, before));
        k += 1.0;
    }
    p
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn chebyshev_polynomials_satisfy_their_recurrence(x in -1.5_f64..1.5, n in 1_u32..40) {
            for kind in [ChebyshevKind::First, ChebyshevKind::Second, ChebyshevKind::Third, ChebyshevKind::Fourth] {
                let at = |n: u32| kind.evaluate(x, f64::from(n));
                let (next, found) = (at(n + 1), 2.0 * x * at(n) - at(n - 1));
                prop_assert!((next - found).abs() <= 1e-10 * (1.0 + next.abs()), "{next} {found}");
            }
        }
    }

    #[test]
    fn polynomials_of_low_degree_have_known_values() {
        assert_eq!(ChebyshevKind::First.evaluate(0.5, 2.9), -0.5);
        assert_eq!(ChebyshevKind::Third.evaluate(-1.0, 3.0), -7.0);
        assert_eq!(ChebyshevKind::Fourth.evaluate(1.0, 3.0), 7.0);
        assert_eq!(hermite(2.0, 2.0, 2.0), 14.0);
        assert_eq!(hermite(2.0, 3.0, 1.0), 2.0);
        assert_eq!(laguerre(2.0, 2.0), -1.0);
        assert_eq!(legendre(0.5, 2.0), -0.125);
        for n in [-1.0, f64::NAN] {
            assert_eq!(legendre(0.5, n), 0.0);
        }
    }

    #[test]
    fn forms_for_high_degrees_agree_with_recurrences() {
        for x in [0.3, -0.9, 1.0, 1.0 + 1e-13, -1.0] {
            let [before, last, far] = [-1.0, 0.0, 1.0].map(|more| legendre(x, MAX_LEGENDRE_RECURRENCE_DEGREE + more));
            let next = ((2.0 * MAX_LEGENDRE_RECURRENCE_DEGREE + 1.0) * x * last
                - MAX_LEGENDRE_RECURRENCE_DEGREE * before)
                / (MAX_LEGENDRE_RECURRENCE_DEGREE + 1.0);
            assert!((next - far).abs() < 1e-2 * next.abs() + 1e-5, "{x}: {next} {far}");
        }
        let (near, far) = (
            ChebyshevKind::Second.evaluate(1.001, MAX_RECURRENCE_DEGREE),
            ChebyshevKind::Second.evaluate(1.001, MAX_RECURRENCE_DEGREE + 1.0),
        );
        assert!((far / near - 1.045_7).abs() < 1e-3, "{near} {far}");
        assert!(ChebyshevKind::First.evaluate(1.5, 1e18).is_infinite());
        assert!(laguerre(1.0, 1e18).is_finite() && hermite(1.0, 1e18, 2.0).is_nan());
    }
}
