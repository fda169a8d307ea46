//! Special functions.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, PI};

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use super::unknown;
use crate::{Gradient, not_differentiable, op_grad};

#[op_grad(aten::special_log_ndtr)]
fn special_log_ndtr(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    (grad * (2.0 / PI).sqrt())? / (this * -FRAC_1_SQRT_2)?.special_erfcx()?
}

#[op_grad(aten::special_ndtri)]
fn special_ndtri(grad: &Tensor, result: &Tensor) -> Result<Tensor> {
    (grad * (2.0 * PI).sqrt())? * ((result * result)? * 0.5)?.exp()?
}

#[op_grad(aten::special_erfcx)]
fn special_erfcx(grad: &Tensor, this: &Tensor, result: &Tensor) -> Result<Tensor> {
    grad * (((this * 2)? * result)? - FRAC_2_SQRT_PI)?
}

#[op_grad(aten::special_entr)]
fn special_entr(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    (grad * (this.log()? + 1)?)?.neg()
}

#[op_grad(aten::special_xlog1py)]
fn special_xlog1py(grad: &Tensor, this: &Tensor, other: &Tensor) -> (impl Gradient, impl Gradient) {
    (
        move || {
            let nothing = aten::logical_and(&this.eq_scalar(0)?, &other.le_scalar(-1)?)?;
            aten::special_xlog1py(grad, other)?.masked_fill_scalar(&nothing, 0)
        },
        move || grad * (this / (other + 1)?)?,
    )
}

#[op_grad(aten::special_zeta)]
fn special_zeta(grad: &Tensor, this: &Tensor, other: &Tensor) -> (impl Gradient, impl Gradient) {
    (unknown::<aten::special_zeta>, move || (grad * (this * aten::special_zeta(&(this + 1)?, other)?)?)?.neg())
}

#[op_grad(aten::special_i0e)]
fn special_i0e(grad: &Tensor, this: &Tensor, result: &Tensor) -> Result<Tensor> {
    grad * (this.special_i1e()? - (this.sgn()? * result)?)?
}

/// The slope of a function of order one, from that of order zero; at zero it is a half.
fn slope_of_order_one(this: &Tensor, order_zero: &Tensor, result: &Tensor) -> Result<Tensor> {
    (order_zero - (result / this)?)?.masked_fill_scalar(&this.eq_scalar(0)?, 0.5)
}

#[op_grad(aten::special_i1)]
fn special_i1(grad: &Tensor, this: &Tensor, result: &Tensor) -> Result<Tensor> {
    grad * slope_of_order_one(this, &this.i0()?, result)?
}

#[op_grad(aten::special_i1e)]
fn special_i1e(grad: &Tensor, this: &Tensor, result: &Tensor) -> Result<Tensor> {
    grad * (slope_of_order_one(this, &this.special_i0e()?, result)? - (this.sgn()? * result)?)?
}

#[op_grad(aten::special_modified_bessel_i0)]
fn special_modified_bessel_i0(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    grad * this.special_modified_bessel_i1()?
}

#[op_grad(aten::special_modified_bessel_i1)]
fn special_modified_bessel_i1(grad: &Tensor, this: &Tensor, result: &Tensor) -> Result<Tensor> {
    grad * slope_of_order_one(this, &this.special_modified_bessel_i0()?, result)?
}

#[op_grad(aten::special_modified_bessel_k0)]
fn special_modified_bessel_k0(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    (grad * this.special_modified_bessel_k1()?)?.neg()
}

#[op_grad(aten::special_modified_bessel_k1)]
fn special_modified_bessel_k1(grad: &Tensor, this: &Tensor, result: &Tensor) -> Result<Tensor> {
    (grad * (this.special_modified_bessel_k0()? + (result / this)?)?)?.neg()
}

#[op_grad(aten::special_bessel_j0)]
fn special_bessel_j0(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    (grad * this.special_bessel_j1()?)?.neg()
}

#[op_grad(aten::special_bessel_j1)]
fn special_bessel_j1(grad: &Tensor, this: &Tensor, result: &Tensor) -> Result<Tensor> {
    grad * slope_of_order_one(this, &this.special_bessel_j0()?, result)?
}

#[op_grad(aten::special_bessel_y0)]
fn special_bessel_y0(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    (grad * this.special_bessel_y1()?)?.neg()
}

#[op_grad(aten::special_bessel_y1)]
fn special_bessel_y1(grad: &Tensor, this: &Tensor, result: &Tensor) -> Result<Tensor> {
    grad * (this.special_bessel_y0()? - (result / this)?)?
}

not_differentiable!(
    aten::special_scaled_modified_bessel_k0,
    aten::special_scaled_modified_bessel_k1,
    aten::special_spherical_bessel_j0,
    aten::special_airy_ai
);

// Orthogonal polynomials.
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
