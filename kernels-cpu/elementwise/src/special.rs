//! Kernels of special functions, one element at a time. They compute in double precision, except `special_entr` and `special_xlog1py`,
//! which compute in the type of their loop.

use engine::compute::RealFloat;
use engine::elementwise::elementwise;
use engine::math::special::polynomials::{self, ChebyshevKind};
use engine::math::special::{airy, bessel, gamma_distribution, normal_distribution};
use engine::math::{Real, zeta};

use crate::arithmetic::times_log;

elementwise! {
    i0 => |[x]| compute_in_f64(x, bessel::i0);
    igamma => |[a, x]| compute_binary_in_f64(a, x, gamma_distribution::cdf);
    igammac => |[a, x]| compute_binary_in_f64(a, x, gamma_distribution::survival);
    special_log_ndtr => |[x]| compute_in_f64(x, normal_distribution::log_cdf);
    special_ndtri => |[x]| compute_in_f64(x, normal_distribution::quantile);
    special_erfcx => |[x]| Real::erfcx(x);
    special_entr => |[x]| if x < 0.0 { Real::log(0.0) } else { 0.0 - times_log(x, x, Real::log) };
    special_xlog1py => |[a, b]| times_log(a, b, Real::log1p);
    special_zeta => |[s, x]| compute_binary_in_f64(s, x, zeta);
    special_i0e => |[x]| compute_in_f64(x, bessel::scaled_i0);
    special_i1 => |[x]| compute_in_f64(x, bessel::i1);
    special_i1e => |[x]| compute_in_f64(x, bessel::scaled_i1);
    special_bessel_j0 => |[x]| compute_in_f64(x, |x| bessel::nan_at_infinity(x, libm::j0));
    special_bessel_j1 => |[x]| compute_in_f64(x, |x| bessel::nan_at_infinity(x, libm::j1));
    special_bessel_y0 => |[x]| compute_in_f64(x, |x| bessel::nan_at_infinity(x, libm::y0));
    special_bessel_y1 => |[x]| compute_in_f64(x, |x| bessel::nan_at_infinity(x, libm::y1));
    special_modified_bessel_i0 => |[x]| compute_in_f64(x, bessel::i0);
    special_modified_bessel_i1 => |[x]| compute_in_f64(x, bessel::i1);
    special_modified_bessel_k0 => |[x]| compute_in_f64(x, |x| bessel::k(0.0, x));
    special_modified_bessel_k1 => |[x]| compute_in_f64(x, |x| bessel::k(1.0, x));
    special_scaled_modified_bessel_k0 => |[x]| compute_in_f64(x, |x| bessel::scaled_k(0.0, x));
    special_scaled_modified_bessel_k1 => |[x]| compute_in_f64(x, |x| bessel::scaled_k(1.0, x));
    special_spherical_bessel_j0 => |[x]| compute_in_f64(x, bessel::spherical_j0);
    special_airy_ai => |[x]| compute_in_f64(x, airy::ai);
    special_chebyshev_polynomial_t => |[x, n]| compute_binary_in_f64(x, n, |x, n| ChebyshevKind::First.evaluate(x, n));
    special_chebyshev_polynomial_u => |[x, n]| compute_binary_in_f64(x, n, |x, n| ChebyshevKind::Second.evaluate(x, n));
    special_chebyshev_polynomial_v => |[x, n]| compute_binary_in_f64(x, n, |x, n| ChebyshevKind::Third.evaluate(x, n));
    special_chebyshev_polynomial_w => |[x, n]| compute_binary_in_f64(x, n, |x, n| ChebyshevKind::Fourth.evaluate(x, n));
    special_shifted_chebyshev_polynomial_t => |[x, n]| compute_binary_in_f64(x, n, |x, n| ChebyshevKind::First.evaluate(2.0 * x - 1.0, n));
    special_shifted_chebyshev_polynomial_u => |[x, n]| compute_binary_in_f64(x, n, |x, n| ChebyshevKind::Second.evaluate(2.0 * x - 1.0, n));
    special_shifted_chebyshev_polynomial_v => |[x, n]| compute_binary_in_f64(x, n, |x, n| ChebyshevKind::Third.evaluate(2.0 * x - 1.0, n));
    special_shifted_chebyshev_polynomial_w => |[x, n]| compute_binary_in_f64(x, n, |x, n| ChebyshevKind::Fourth.evaluate(2.0 * x - 1.0, n));
    special_hermite_polynomial_h => |[x, n]| compute_binary_in_f64(x, n, |x, n| polynomials::hermite(x, n, 2.0));
    special_hermite_polynomial_he => |[x, n]| compute_binary_in_f64(x, n, |x, n| polynomials::hermite(x, n, 1.0));
    special_laguerre_polynomial_l => |[x, n]| compute_binary_in_f64(x, n, polynomials::laguerre);
    special_legendre_polynomial_p => |[x, n]| compute_binary_in_f64(x, n, polynomials::legendre);
}

/// Computes a function in double precision and rounds the result to `T`.
pub fn compute_in_f64<T: RealFloat + Into<f64>>(x: T, f: impl Fn(f64) -> f64) -> T {
    T::from_f64(f(x.into()))
}

/// Computes a function of two values in double precision and rounds the result to `T`.
pub fn compute_binary_in_f64<T: RealFloat + Into<f64>>(x: T, y: T, f: impl Fn(f64, f64) -> f64) -> T {
    T::from_f64(f(x.into(), y.into()))
}

/// Computes a function of three values in double precision and rounds the result to `T`.
pub fn compute_ternary_in_f64<T: RealFloat + Into<f64>>(x: T, y: T, z: T, f: impl Fn(f64, f64, f64) -> f64) -> T {
    T::from_f64(f(x.into(), y.into(), z.into()))
}
