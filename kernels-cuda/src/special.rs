//! Special functions: those that C++ does not have are computed in double precision.
#![expect(unsafe_code, reason = "kernels are native code")]

elementwise!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    special_log_ndtr - special_log_ndtr_out [F32 F64] (this) => |x| "double y = double(x) * -0.7071067811865476; return C(x < C(-1) ? log(erfcx(y) * 0.5) - double(x) * double(x) * 0.5 : log1p(erfc(-y) * -0.5));";
    special_ndtri - special_ndtri_out [F32 F64] (this) => |x| "return C(normcdfinv(double(x)));";
    special_erfcx - special_erfcx_out [F32 F64] (this) => |x| "return erfcx(x);";
    special_entr - special_entr_out [F32 F64] (this) => |x| "return x < C(0) ? Bounds<C>::least() : C(0) - times_log(x, x);";
    special_xlog1py - special_xlog1py_out [F32 F64] (this, other) => |a, b| "return times_log1p(a, b);";
    special_bessel_j0 - special_bessel_j0_out [F32 F64] (this) => |x| "return is_infinite(x) ? Bounds<C>::nan() : C(j0(double(x)));";
    special_bessel_j1 - special_bessel_j1_out [F32 F64] (this) => |x| "return is_infinite(x) ? Bounds<C>::nan() : C(j1(double(x)));";
    special_bessel_y0 - special_bessel_y0_out [F32 F64] (this) => |x| "return is_infinite(x) ? Bounds<C>::nan() : C(y0(double(x)));";
    special_bessel_y1 - special_bessel_y1_out [F32 F64] (this) => |x| "return is_infinite(x) ? Bounds<C>::nan() : C(y1(double(x)));";
    i0 i0_ i0_out [F32 F64] (this) => |x| "return C(bessel_i0(double(x), PLAIN));";
    special_i0e - special_i0e_out [F32 F64] (this) => |x| "return C(bessel_i0(double(x), SCALED));";
    special_i1 - special_i1_out [F32 F64] (this) => |x| "return C(bessel_i1(double(x), PLAIN));";
    special_i1e - special_i1e_out [F32 F64] (this) => |x| "return C(bessel_i1(double(x), SCALED));";
    special_modified_bessel_i0 - special_modified_bessel_i0_out [F32 F64] (this) => |x| "return C(bessel_i0(double(x), PLAIN));";
    special_modified_bessel_i1 - special_modified_bessel_i1_out [F32 F64] (this) => |x| "return C(bessel_i1(double(x), PLAIN));";
    special_modified_bessel_k0 - special_modified_bessel_k0_out [F32 F64] (this) => |x| "return C(bessel_k(0, double(x)));";
    special_modified_bessel_k1 - special_modified_bessel_k1_out [F32 F64] (this) => |x| "return C(bessel_k(1, double(x)));";
    special_scaled_modified_bessel_k0 - special_scaled_modified_bessel_k0_out [F32 F64] (x) => |x| "return C(scaled_bessel_k(0, double(x)));";
    special_scaled_modified_bessel_k1 - special_scaled_modified_bessel_k1_out [F32 F64] (x) => |x| "return C(scaled_bessel_k(1, double(x)));";
    special_airy_ai - special_airy_ai_out [F32 F64] (x) => |x| "return C(airy(double(x)));";
    special_spherical_bessel_j0 - special_spherical_bessel_j0_out [F32 F64] (x) => |x| "double y = double(x); return C(y == 0 ? 1 : is_infinite(y) ? 0 : sin(y) / y);";
    igamma igamma_ igamma_out [F32 F64] (this, other) => |a, x| "return C(gamma_shares(double(a), double(x)).below);";
    igammac igammac_ igammac_out [F32 F64] (this, other) => |a, x| "return C(gamma_shares(double(a), double(x)).above);";
    special_zeta - special_zeta_out [F32 F64] (this, other) => |s, x| "return C(zeta_of(double(s), double(x)));";
    special_chebyshev_polynomial_t - special_chebyshev_polynomial_t_out [F32 F64] (x, n) => |x, n| "return C(chebyshev(FIRST_KIND, double(x), double(n)));";
    special_chebyshev_polynomial_u - special_chebyshev_polynomial_u_out [F32 F64] (x, n) => |x, n| "return C(chebyshev(SECOND_KIND, double(x), double(n)));";
    special_chebyshev_polynomial_v - special_chebyshev_polynomial_v_out [F32 F64] (x, n) => |x, n| "return C(chebyshev(THIRD_KIND, double(x), double(n)));";
    special_chebyshev_polynomial_w - special_chebyshev_polynomial_w_out [F32 F64] (x, n) => |x, n| "return C(chebyshev(FOURTH_KIND, double(x), double(n)));";
    special_shifted_chebyshev_polynomial_t - special_shifted_chebyshev_polynomial_t_out [F32 F64] (x, n) => |x, n| "return C(chebyshev(FIRST_KIND, 2 * double(x) - 1, double(n)));";
    special_shifted_chebyshev_polynomial_u - special_shifted_chebyshev_polynomial_u_out [F32 F64] (x, n) => |x, n| "return C(chebyshev(SECOND_KIND, 2 * double(x) - 1, double(n)));";
    special_shifted_chebyshev_polynomial_v - special_shifted_chebyshev_polynomial_v_out [F32 F64] (x, n) => |x, n| "return C(chebyshev(THIRD_KIND, 2 * double(x) - 1, double(n)));";
    special_shifted_chebyshev_polynomial_w - special_shifted_chebyshev_polynomial_w_out [F32 F64] (x, n) => |x, n| "return C(chebyshev(FOURTH_KIND, 2 * double(x) - 1, double(n)));";
    special_hermite_polynomial_h - special_hermite_polynomial_h_out [F32 F64] (x, n) => |x, n| "return C(hermite(2, double(x), double(n)));";
    special_hermite_polynomial_he - special_hermite_polynomial_he_out [F32 F64] (x, n) => |x, n| "return C(hermite(1, double(x), double(n)));";
    special_laguerre_polynomial_l - special_laguerre_polynomial_l_out [F32 F64] (x, n) => |x, n| "return C(laguerre(double(x), double(n)));";
    special_legendre_polynomial_p - special_legendre_polynomial_p_out [F32 F64] (x, n) => |x, n| "return C(legendre(double(x), double(n)));";
});
