//! CUDA kernels of special functions. Those that CUDA C++ lacks are computed in double precision.
#![expect(unsafe_code, reason = "kernels are native code")]

elementwise!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    special_log_ndtr => |x| "double y = double(x) * -0.7071067811865476; return C(x < C(-1) ? log(erfcx(y) * 0.5) - double(x) * double(x) * 0.5 : log1p(erfc(-y) * -0.5));";
    special_ndtri => |x| "return C(normcdfinv(double(x)));";
    special_erfcx => |x| "return erfcx(x);";
    special_entr => |x| "return x < C(0) ? Limits<C>::min_value() : C(0) - xlogy(x, x);";
    special_xlog1py => |a, b| "return xlog1py(a, b);";
    special_bessel_j0 => |x| "return is_infinite(x) ? Limits<C>::nan() : C(j0(double(x)));";
    special_bessel_j1 => |x| "return is_infinite(x) ? Limits<C>::nan() : C(j1(double(x)));";
    special_bessel_y0 => |x| "return is_infinite(x) ? Limits<C>::nan() : C(y0(double(x)));";
    special_bessel_y1 => |x| "return is_infinite(x) ? Limits<C>::nan() : C(y1(double(x)));";
    i0 => |x| "return C(bessel_i0(double(x), UNSCALED));";
    special_i0e => |x| "return C(bessel_i0(double(x), SCALED));";
    special_i1 => |x| "return C(bessel_i1(double(x), UNSCALED));";
    special_i1e => |x| "return C(bessel_i1(double(x), SCALED));";
    special_modified_bessel_i0 => |x| "return C(bessel_i0(double(x), UNSCALED));";
    special_modified_bessel_i1 => |x| "return C(bessel_i1(double(x), UNSCALED));";
    special_modified_bessel_k0 => |x| "return C(bessel_k(0, double(x)));";
    special_modified_bessel_k1 => |x| "return C(bessel_k(1, double(x)));";
    special_scaled_modified_bessel_k0 => |x| "return C(scaled_bessel_k(0, double(x)));";
    special_scaled_modified_bessel_k1 => |x| "return C(scaled_bessel_k(1, double(x)));";
    special_airy_ai => |x| "return C(airy(double(x)));";
    special_spherical_bessel_j0 => |x| "double y = double(x); return C(y == 0 ? 1 : is_infinite(y) ? 0 : sin(y) / y);";
    igamma => |a, x| "return C(gamma_probabilities(double(a), double(x)).below);";
    igammac => |a, x| "return C(gamma_probabilities(double(a), double(x)).above);";
    special_zeta => |s, x| "return C(hurwitz_zeta(double(s), double(x)));";
    special_chebyshev_polynomial_t => |x, n| "return C(chebyshev(FIRST_KIND, double(x), double(n)));";
    special_chebyshev_polynomial_u => |x, n| "return C(chebyshev(SECOND_KIND, double(x), double(n)));";
    special_chebyshev_polynomial_v => |x, n| "return C(chebyshev(THIRD_KIND, double(x), double(n)));";
    special_chebyshev_polynomial_w => |x, n| "return C(chebyshev(FOURTH_KIND, double(x), double(n)));";
    special_shifted_chebyshev_polynomial_t => |x, n| "return C(chebyshev(FIRST_KIND, 2 * double(x) - 1, double(n)));";
    special_shifted_chebyshev_polynomial_u => |x, n| "return C(chebyshev(SECOND_KIND, 2 * double(x) - 1, double(n)));";
    special_shifted_chebyshev_polynomial_v => |x, n| "return C(chebyshev(THIRD_KIND, 2 * double(x) - 1, double(n)));";
    special_shifted_chebyshev_polynomial_w => |x, n| "return C(chebyshev(FOURTH_KIND, 2 * double(x) - 1, double(n)));";
    special_hermite_polynomial_h => |x, n| "return C(hermite(2, double(x), double(n)));";
    special_hermite_polynomial_he => |x, n| "return C(hermite(1, double(x), double(n)));";
    special_laguerre_polynomial_l => |x, n| "return C(laguerre(double(x), double(n)));";
    special_legendre_polynomial_p => |x, n| "return C(legendre(double(x), double(n)));";
});
