//! Special functions: normal distribution, Bessel functions, zeta function and orthogonal polynomials.

use dispatch_runtime::prelude::*;

use crate::{add_scalar, erf, mul_scalar};

/// The cumulative distribution function of the standard normal distribution
#[op_def("special_ndtr(Tensor self) -> Tensor", out = "out")]
pub fn special_ndtr(this: &Tensor) -> Result<Tensor> {
    let half_erf = mul_scalar(&erf(&mul_scalar(this, std::f64::consts::FRAC_1_SQRT_2.into())?)?, 0.5.into())?;
    add_scalar(&half_erf, 0.5.into(), 1.into())
}

/// The logarithm of the cumulative distribution function of the standard normal distribution
#[op_def("special_log_ndtr(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), out = "out")]
pub fn special_log_ndtr(_: ...) -> Result<Tensor>;

/// The quantile function of the standard normal distribution: the inverse of `special_ndtr`
#[op_def("special_ndtri(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), out = "out")]
pub fn special_ndtri(_: ...) -> Result<Tensor>;

/// `e^(self^2) * erfc(self)`
#[op_def("special_erfcx(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), out = "out")]
pub fn special_erfcx(_: ...) -> Result<Tensor>;

/// `-self * log(self)`, negative infinity below zero
#[op_def("special_entr(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), out = "out")]
pub fn special_entr(_: ...) -> Result<Tensor>;

/// `self * log(1 + other)`, and 0 where `self` is 0
#[op_def("special_xlog1py(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), out = "out")]
pub fn special_xlog1py(_: ...) -> Result<Tensor>;

/// `self * log(1 + other)` for a scalar `other`
#[op_def("special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor", out = "other_scalar_out", calls = special_xlog1py(this, &Tensor::number(other)))]
pub fn special_xlog1py_other_scalar(_: ...) -> Result<Tensor>;

/// `self * log(1 + other)` for a scalar `self`
#[op_def("special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor", out = "self_scalar_out", calls = special_xlog1py(&Tensor::number(this), other))]
pub fn special_xlog1py_self_scalar(_: ...) -> Result<Tensor>;

/// The Hurwitz zeta function: the sum of `(other + k)^-self` over all `k` from zero
#[op_def("special_zeta(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), out = "out")]
pub fn special_zeta(_: ...) -> Result<Tensor>;

/// The Hurwitz zeta function for a scalar `other`
#[op_def("special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor", out = "other_scalar_out", calls = special_zeta(this, &Tensor::number(other)))]
pub fn special_zeta_other_scalar(_: ...) -> Result<Tensor>;

/// The Hurwitz zeta function for a scalar `self`
#[op_def("special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor", out = "self_scalar_out", calls = special_zeta(&Tensor::number(this), other))]
pub fn special_zeta_self_scalar(_: ...) -> Result<Tensor>;

/// `e^-|self| * i0(self)`
#[op_def("special_i0e(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), out = "out")]
pub fn special_i0e(_: ...) -> Result<Tensor>;

/// The modified Bessel function of the first kind, of order 1
#[op_def("special_i1(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), out = "out")]
pub fn special_i1(_: ...) -> Result<Tensor>;

/// `e^-|self| * i1(self)`
#[op_def("special_i1e(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), out = "out")]
pub fn special_i1e(_: ...) -> Result<Tensor>;

/// The Bessel function of the first kind, of order 0
#[op_def("special_bessel_j0(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), out = "out")]
pub fn special_bessel_j0(_: ...) -> Result<Tensor>;

/// The Bessel function of the first kind, of order 1
#[op_def("special_bessel_j1(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), out = "out")]
pub fn special_bessel_j1(_: ...) -> Result<Tensor>;

/// The Bessel function of the second kind, of order 0
#[op_def("special_bessel_y0(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), out = "out")]
pub fn special_bessel_y0(_: ...) -> Result<Tensor>;

/// The Bessel function of the second kind, of order 1
#[op_def("special_bessel_y1(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), out = "out")]
pub fn special_bessel_y1(_: ...) -> Result<Tensor>;

/// The modified Bessel function of the first kind, of order 0
#[op_def("special_modified_bessel_i0(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), out = "out")]
pub fn special_modified_bessel_i0(_: ...) -> Result<Tensor>;

/// The modified Bessel function of the first kind, of order 1
#[op_def("special_modified_bessel_i1(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), out = "out")]
pub fn special_modified_bessel_i1(_: ...) -> Result<Tensor>;

/// The modified Bessel function of the second kind, of order 0
#[op_def("special_modified_bessel_k0(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), out = "out")]
pub fn special_modified_bessel_k0(_: ...) -> Result<Tensor>;

/// The modified Bessel function of the second kind, of order 1
#[op_def("special_modified_bessel_k1(Tensor self) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), out = "out")]
pub fn special_modified_bessel_k1(_: ...) -> Result<Tensor>;

/// `e^x` times the modified Bessel function of the second kind, of order 0
#[op_def("special_scaled_modified_bessel_k0(Tensor x) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), out = "out")]
pub fn special_scaled_modified_bessel_k0(_: ...) -> Result<Tensor>;

/// `e^x` times the modified Bessel function of the second kind, of order 1
#[op_def("special_scaled_modified_bessel_k1(Tensor x) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), out = "out")]
pub fn special_scaled_modified_bessel_k1(_: ...) -> Result<Tensor>;

/// The spherical Bessel function of the first kind, of order 0
#[op_def("special_spherical_bessel_j0(Tensor x) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), out = "out")]
pub fn special_spherical_bessel_j0(_: ...) -> Result<Tensor>;

/// The Airy function `Ai`
#[op_def("special_airy_ai(Tensor x) -> Tensor", shape = pointwise, dtype = float, dtypes(floating), out = "out")]
pub fn special_airy_ai(_: ...) -> Result<Tensor>;

/// Defines polynomials of degree `n` in `x`, with overloads for a scalar `x` and a scalar `n`.
macro_rules! define_polynomials {
    ($($(#[$doc:meta])* $name:ident $of_number:ident $of_degree:ident $schema:literal $number_schema:literal $degree_schema:literal;)*) => {$(
        $(#[$doc])*
        #[op_def($schema, shape = pointwise, dtype = float, dtypes(floating), out = "out")]
        pub fn $name(_: ...) -> Result<Tensor>;

        $(#[$doc])*
        #[op_def($number_schema, out = "x_scalar_out", calls = $name(&Tensor::number(x), n))]
        pub fn $of_number(_: ...) -> Result<Tensor>;

        $(#[$doc])*
        #[op_def($degree_schema, out = "n_scalar_out", calls = $name(x, &Tensor::number(n)))]
        pub fn $of_degree(_: ...) -> Result<Tensor>;
    )*};
}

define_polynomials! {
    /// The Chebyshev polynomial of the first kind
    special_chebyshev_polynomial_t special_chebyshev_polynomial_t_x_scalar special_chebyshev_polynomial_t_n_scalar
        "special_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor"
        "special_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor"
        "special_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor";
    /// The Chebyshev polynomial of the second kind
    special_chebyshev_polynomial_u special_chebyshev_polynomial_u_x_scalar special_chebyshev_polynomial_u_n_scalar
        "special_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor"
        "special_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor"
        "special_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor";
    /// The Chebyshev polynomial of the third kind
    special_chebyshev_polynomial_v special_chebyshev_polynomial_v_x_scalar special_chebyshev_polynomial_v_n_scalar
        "special_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor"
        "special_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor"
        "special_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor";
    /// The Chebyshev polynomial of the fourth kind
    special_chebyshev_polynomial_w special_chebyshev_polynomial_w_x_scalar special_chebyshev_polynomial_w_n_scalar
        "special_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor"
        "special_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor"
        "special_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor";
    /// The Chebyshev polynomial of the first kind, of `2 x - 1`
    special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_t_x_scalar special_shifted_chebyshev_polynomial_t_n_scalar
        "special_shifted_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor"
        "special_shifted_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor"
        "special_shifted_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor";
    /// The Chebyshev polynomial of the second kind, of `2 x - 1`
    special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_u_x_scalar special_shifted_chebyshev_polynomial_u_n_scalar
        "special_shifted_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor"
        "special_shifted_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor"
        "special_shifted_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor";
    /// The Chebyshev polynomial of the third kind, of `2 x - 1`
    special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_v_x_scalar special_shifted_chebyshev_polynomial_v_n_scalar
        "special_shifted_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor"
        "special_shifted_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor"
        "special_shifted_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor";
    /// The Chebyshev polynomial of the fourth kind, of `2 x - 1`
    special_shifted_chebyshev_polynomial_w special_shifted_chebyshev_polynomial_w_x_scalar special_shifted_chebyshev_polynomial_w_n_scalar
        "special_shifted_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor"
        "special_shifted_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor"
        "special_shifted_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor";
    /// The Hermite polynomial `H_n` of physics
    special_hermite_polynomial_h special_hermite_polynomial_h_x_scalar special_hermite_polynomial_h_n_scalar
        "special_hermite_polynomial_h(Tensor x, Tensor n) -> Tensor"
        "special_hermite_polynomial_h.x_scalar(Scalar x, Tensor n) -> Tensor"
        "special_hermite_polynomial_h.n_scalar(Tensor x, Scalar n) -> Tensor";
    /// The Hermite polynomial `He_n` of probability theory
    special_hermite_polynomial_he special_hermite_polynomial_he_x_scalar special_hermite_polynomial_he_n_scalar
        "special_hermite_polynomial_he(Tensor x, Tensor n) -> Tensor"
        "special_hermite_polynomial_he.x_scalar(Scalar x, Tensor n) -> Tensor"
        "special_hermite_polynomial_he.n_scalar(Tensor x, Scalar n) -> Tensor";
    /// The Laguerre polynomial
    special_laguerre_polynomial_l special_laguerre_polynomial_l_x_scalar special_laguerre_polynomial_l_n_scalar
        "special_laguerre_polynomial_l(Tensor x, Tensor n) -> Tensor"
        "special_laguerre_polynomial_l.x_scalar(Scalar x, Tensor n) -> Tensor"
        "special_laguerre_polynomial_l.n_scalar(Tensor x, Scalar n) -> Tensor";
    /// The Legendre polynomial
    special_legendre_polynomial_p special_legendre_polynomial_p_x_scalar special_legendre_polynomial_p_n_scalar
        "special_legendre_polynomial_p(Tensor x, Tensor n) -> Tensor"
        "special_legendre_polynomial_p.x_scalar(Scalar x, Tensor n) -> Tensor"
        "special_legendre_polynomial_p.n_scalar(Tensor x, Scalar n) -> Tensor";
}
