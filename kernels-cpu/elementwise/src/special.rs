//! Kernels of special functions, computed one element at a time, in double precision.

use engine::compute::Fraction;
use engine::elementwise::elementwise;
use engine::math::special::polynomials::{self, Kind};
use engine::math::special::{airy, bessel, gamma, normal};
use engine::math::{Real, zeta};

use crate::arithmetic::x_log_y;

elementwise! {
    i0 => |[x]| by(x, bessel::i0);
    igamma => |[a, x]| by_two(a, x, gamma::cdf);
    igammac => |[a, x]| by_two(a, x, gamma::survival);
    special_log_ndtr => |[x]| by(x, normal::log_cdf);
    special_ndtri => |[x]| by(x, normal::quantile);
    special_erfcx => |[x]| Real::erfcx(x);
    special_entr => |[x]| if x < 0.0 { Real::log(0.0) } else { 0.0 - x_log_y(x, x, Real::log) };
    special_xlog1py => |[a, b]| x_log_y(a, b, Real::log1p);
    special_zeta => |[s, x]| by_two(s, x, zeta);
    special_i0e => |[x]| by(x, bessel::scaled_i0);
    special_i1 => |[x]| by(x, bessel::i1);
    special_i1e => |[x]| by(x, bessel::scaled_i1);
    special_bessel_j0 => |[x]| by(x, |x| bessel::nan_at_infinity(x, libm::j0));
    special_bessel_j1 => |[x]| by(x, |x| bessel::nan_at_infinity(x, libm::j1));
    special_bessel_y0 => |[x]| by(x, |x| bessel::nan_at_infinity(x, libm::y0));
    special_bessel_y1 => |[x]| by(x, |x| bessel::nan_at_infinity(x, libm::y1));
    special_modified_bessel_i0 => |[x]| by(x, bessel::i0);
    special_modified_bessel_i1 => |[x]| by(x, bessel::i1);
    special_modified_bessel_k0 => |[x]| by(x, |x| bessel::k(0.0, x));
    special_modified_bessel_k1 => |[x]| by(x, |x| bessel::k(1.0, x));
    special_scaled_modified_bessel_k0 => |[x]| by(x, |x| bessel::scaled_k(0.0, x));
    special_scaled_modified_bessel_k1 => |[x]| by(x, |x| bessel::scaled_k(1.0, x));
    special_spherical_bessel_j0 => |[x]| by(x, bessel::spherical);
    special_airy_ai => |[x]| by(x, airy::ai);
    special_chebyshev_polynomial_t => |[x, n]| by_two(x, n, |x, n| Kind::First.at(x, n));
    special_chebyshev_polynomial_u => |[x, n]| by_two(x, n, |x, n| Kind::Second.at(x, n));
    special_chebyshev_polynomial_v => |[x, n]| by_two(x, n, |x, n| Kind::Third.at(x, n));
    special_chebyshev_polynomial_w => |[x, n]| by_two(x, n, |x, n| Kind::Fourth.at(x, n));
    special_shifted_chebyshev_polynomial_t => |[x, n]| by_two(x, n, |x, n| Kind::First.at(2.0 * x - 1.0, n));
    special_shifted_chebyshev_polynomial_u => |[x, n]| by_two(x, n, |x, n| Kind::Second.at(2.0 * x - 1.0, n));
    special_shifted_chebyshev_polynomial_v => |[x, n]| by_two(x, n, |x, n| Kind::Third.at(2.0 * x - 1.0, n));
    special_shifted_chebyshev_polynomial_w => |[x, n]| by_two(x, n, |x, n| Kind::Fourth.at(2.0 * x - 1.0, n));
    special_hermite_polynomial_h => |[x, n]| by_two(x, n, |x, n| polynomials::hermite(x, n, 2.0));
    special_hermite_polynomial_he => |[x, n]| by_two(x, n, |x, n| polynomials::hermite(x, n, 1.0));
    special_laguerre_polynomial_l => |[x, n]| by_two(x, n, polynomials::laguerre);
    special_legendre_polynomial_p => |[x, n]| by_two(x, n, polynomials::legendre);
}

/// Computes a function in double precision and rounds the result to `T`.
pub fn by<T: Fraction + Into<f64>>(x: T, f: impl Fn(f64) -> f64) -> T {
    T::near(f(x.into()))
}

/// Computes a function of two values in double precision and rounds the result to `T`.
pub fn by_two<T: Fraction + Into<f64>>(x: T, y: T, f: impl Fn(f64, f64) -> f64) -> T {
    T::near(f(x.into(), y.into()))
}

/// Computes a function of three values in double precision and rounds the result to `T`.
pub fn by_three<T: Fraction + Into<f64>>(x: T, y: T, z: T, f: impl Fn(f64, f64, f64) -> f64) -> T {
    T::near(f(x.into(), y.into(), z.into()))
}
