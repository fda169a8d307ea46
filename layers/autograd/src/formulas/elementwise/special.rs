//! Gradient formulas of special functions.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, PI};

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::formulas::fail_without_formula;
use crate::not_differentiable;

/// Returns the derivative of a Bessel function of order one, given the function of order zero. It is 0.5 at zero.
fn order_one_bessel_derivative(this: &Tensor, order_zero: &Tensor, result: &Tensor) -> Result<Tensor> {
    (order_zero - (result / this)?)?.masked_fill(&this.eq(0)?, 0.5)
}

derivatives! {
    special_log_ndtr(grad, this) => (grad * (2.0 / PI).sqrt())? / aten::special_erfcx(&(this * -FRAC_1_SQRT_2)?)?;
    special_ndtri(grad, result) => (grad * (2.0 * PI).sqrt())? * ((result * result)? * 0.5)?.exp()?;
    special_erfcx(grad, this, result) => grad * (((this * 2)? * result)? - FRAC_2_SQRT_PI)?;
    special_entr(grad, this) => aten::neg(&(grad * (this.log()? + 1)?)?);
    special_xlog1py(grad, this, other) =>
        {
            let nothing = aten::logical_and(&this.eq(0)?, &other.le(-1)?)?;
            aten::special_xlog1py(grad, other)?.masked_fill(&nothing, 0)
        },
        grad * (this / (other + 1)?)?;
    special_zeta(grad, this, other) =>
        fail_without_formula::<aten::special_zeta>(), -(grad * (this * aten::special_zeta(&(this + 1)?, other)?)?)?;
    special_i0e(grad, this, result) => grad * (aten::special_i1e(this)? - (this.sgn()? * result)?)?;
    special_i1(grad, this, result) => grad * order_one_bessel_derivative(this, &this.i0()?, result)?;
    special_i1e(grad, this, result) =>
        grad * (order_one_bessel_derivative(this, &aten::special_i0e(this)?, result)? - (this.sgn()? * result)?)?;
    special_modified_bessel_i0(grad, this) => grad * aten::special_modified_bessel_i1(this)?;
    special_modified_bessel_i1(grad, this, result) =>
        grad * order_one_bessel_derivative(this, &aten::special_modified_bessel_i0(this)?, result)?;
    special_modified_bessel_k0(grad, this) => aten::neg(&(grad * aten::special_modified_bessel_k1(this)?)?);
    special_modified_bessel_k1(grad, this, result) =>
        aten::neg(&(grad * (aten::special_modified_bessel_k0(this)? + (result / this)?)?)?);
    special_bessel_j0(grad, this) => aten::neg(&(grad * aten::special_bessel_j1(this)?)?);
    special_bessel_j1(grad, this, result) => grad * order_one_bessel_derivative(this, &aten::special_bessel_j0(this)?, result)?;
    special_bessel_y0(grad, this) => aten::neg(&(grad * aten::special_bessel_y1(this)?)?);
    special_bessel_y1(grad, this, result) => grad * (aten::special_bessel_y0(this)? - (result / this)?)?;
}

not_differentiable!(
    aten::special_scaled_modified_bessel_k0,
    aten::special_scaled_modified_bessel_k1,
    aten::special_spherical_bessel_j0,
    aten::special_airy_ai
);

// Orthogonal polynomials are declared not differentiable.
not_differentiable!(
    aten::special_chebyshev_polynomial_t,
    aten::special_chebyshev_polynomial_u,
    aten::special_chebyshev_polynomial_v,
    aten::special_chebyshev_polynomial_w,
    aten::special_shifted_chebyshev_polynomial_t,
    aten::special_shifted_chebyshev_polynomial_u,
    aten::special_shifted_chebyshev_polynomial_v,
    aten::special_shifted_chebyshev_polynomial_w,
    aten::special_hermite_polynomial_h,
    aten::special_hermite_polynomial_he,
    aten::special_laguerre_polynomial_l,
    aten::special_legendre_polynomial_p
);
