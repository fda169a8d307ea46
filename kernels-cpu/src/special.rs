//! Special functions: computed one element at a time, in double precision.

mod airy;
mod bessel;
mod beta;
mod gamma;
mod normal;
mod polynomials;

use crate::arithmetic::times_log;
use crate::compute::Fraction;
use crate::elementwise::elementwise;
use crate::math::{Real, zeta};
use polynomials::Kind;

pub(crate) use beta::follows as beta_follows;
pub(crate) use gamma::follows as gamma_follows;

elementwise! {
    i0 i0_ i0_out [f32 f64] (this) => |[x]| by(x, bessel::i0);
    igamma igamma_ igamma_out [f32 f64] (this, other) => |[a, x]| by_two(a, x, gamma::below);
    igammac igammac_ igammac_out [f32 f64] (this, other) => |[a, x]| by_two(a, x, gamma::above);
    special_log_ndtr - special_log_ndtr_out [f32 f64] (this) => |[x]| by(x, normal::log_share);
    special_ndtri - special_ndtri_out [f32 f64] (this) => |[x]| by(x, normal::quantile);
    special_erfcx - special_erfcx_out [f32 f64] (this) => |[x]| Real::erfcx(x);
    special_entr - special_entr_out [f32 f64] (this) => |[x]| if x < 0.0 { Real::log(0.0) } else { 0.0 - times_log(x, x, Real::log) };
    special_xlog1py - special_xlog1py_out [f32 f64] (this, other) => |[a, b]| times_log(a, b, Real::log1p);
    special_zeta - special_zeta_out [f32 f64] (this, other) => |[s, x]| by_two(s, x, zeta);
    special_i0e - special_i0e_out [f32 f64] (this) => |[x]| by(x, bessel::scaled_i0);
    special_i1 - special_i1_out [f32 f64] (this) => |[x]| by(x, bessel::i1);
    special_i1e - special_i1e_out [f32 f64] (this) => |[x]| by(x, bessel::scaled_i1);
    special_bessel_j0 - special_bessel_j0_out [f32 f64] (this) => |[x]| by(x, |x| bessel::waves(x, libm::j0));
    special_bessel_j1 - special_bessel_j1_out [f32 f64] (this) => |[x]| by(x, |x| bessel::waves(x, libm::j1));
    special_bessel_y0 - special_bessel_y0_out [f32 f64] (this) => |[x]| by(x, |x| bessel::waves(x, libm::y0));
    special_bessel_y1 - special_bessel_y1_out [f32 f64] (this) => |[x]| by(x, |x| bessel::waves(x, libm::y1));
    special_modified_bessel_i0 - special_modified_bessel_i0_out [f32 f64] (this) => |[x]| by(x, bessel::i0);
    special_modified_bessel_i1 - special_modified_bessel_i1_out [f32 f64] (this) => |[x]| by(x, bessel::i1);
    special_modified_bessel_k0 - special_modified_bessel_k0_out [f32 f64] (this) => |[x]| by(x, |x| bessel::k(0.0, x));
    special_modified_bessel_k1 - special_modified_bessel_k1_out [f32 f64] (this) => |[x]| by(x, |x| bessel::k(1.0, x));
    special_scaled_modified_bessel_k0 - special_scaled_modified_bessel_k0_out [f32 f64] (x) => |[x]| by(x, |x| bessel::scaled_k(0.0, x));
    special_scaled_modified_bessel_k1 - special_scaled_modified_bessel_k1_out [f32 f64] (x) => |[x]| by(x, |x| bessel::scaled_k(1.0, x));
    special_spherical_bessel_j0 - special_spherical_bessel_j0_out [f32 f64] (x) => |[x]| by(x, bessel::spherical);
    special_airy_ai - special_airy_ai_out [f32 f64] (x) => |[x]| by(x, airy::ai);
    special_chebyshev_polynomial_t - special_chebyshev_polynomial_t_out [f32 f64] (x, n) => |[x, n]| by_two(x, n, |x, n| Kind::First.at(x, n));
    special_chebyshev_polynomial_u - special_chebyshev_polynomial_u_out [f32 f64] (x, n) => |[x, n]| by_two(x, n, |x, n| Kind::Second.at(x, n));
    special_chebyshev_polynomial_v - special_chebyshev_polynomial_v_out [f32 f64] (x, n) => |[x, n]| by_two(x, n, |x, n| Kind::Third.at(x, n));
    special_chebyshev_polynomial_w - special_chebyshev_polynomial_w_out [f32 f64] (x, n) => |[x, n]| by_two(x, n, |x, n| Kind::Fourth.at(x, n));
    special_shifted_chebyshev_polynomial_t - special_shifted_chebyshev_polynomial_t_out [f32 f64] (x, n) => |[x, n]| by_two(x, n, |x, n| Kind::First.at(2.0 * x - 1.0, n));
    special_shifted_chebyshev_polynomial_u - special_shifted_chebyshev_polynomial_u_out [f32 f64] (x, n) => |[x, n]| by_two(x, n, |x, n| Kind::Second.at(2.0 * x - 1.0, n));
    special_shifted_chebyshev_polynomial_v - special_shifted_chebyshev_polynomial_v_out [f32 f64] (x, n) => |[x, n]| by_two(x, n, |x, n| Kind::Third.at(2.0 * x - 1.0, n));
    special_shifted_chebyshev_polynomial_w - special_shifted_chebyshev_polynomial_w_out [f32 f64] (x, n) => |[x, n]| by_two(x, n, |x, n| Kind::Fourth.at(2.0 * x - 1.0, n));
    special_hermite_polynomial_h - special_hermite_polynomial_h_out [f32 f64] (x, n) => |[x, n]| by_two(x, n, |x, n| polynomials::hermite(x, n, 2.0));
    special_hermite_polynomial_he - special_hermite_polynomial_he_out [f32 f64] (x, n) => |[x, n]| by_two(x, n, |x, n| polynomials::hermite(x, n, 1.0));
    special_laguerre_polynomial_l - special_laguerre_polynomial_l_out [f32 f64] (x, n) => |[x, n]| by_two(x, n, polynomials::laguerre);
    special_legendre_polynomial_p - special_legendre_polynomial_p_out [f32 f64] (x, n) => |[x, n]| by_two(x, n, polynomials::legendre);
}

/// A function in double precision, rounded.
pub(crate) fn by<T: Fraction + Into<f64>>(x: T, f: impl Fn(f64) -> f64) -> T {
    T::near(f(x.into()))
}

/// A function of two numbers in double precision, rounded.
pub(crate) fn by_two<T: Fraction + Into<f64>>(x: T, y: T, f: impl Fn(f64, f64) -> f64) -> T {
    T::near(f(x.into(), y.into()))
}

/// A function of three numbers in double precision, rounded.
pub(crate) fn by_three<T: Fraction + Into<f64>>(x: T, y: T, z: T, f: impl Fn(f64, f64, f64) -> f64) -> T {
    T::near(f(x.into(), y.into(), z.into()))
}
