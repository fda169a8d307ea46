//! Gradient formulas of unary functions, signs, magnitudes and rounding.

use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10, PI};

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::complex::{conj, real};

/// Returns the conjugate of `1 / sqrt(1 - x^2)`.
fn inverse_sqrt_one_minus_square(x: &Tensor) -> Result<Tensor> {
    conj(&(1 - (x * x)?)?.rsqrt()?)
}

/// Returns the derivative of the error function.
fn erf_derivative(x: &Tensor) -> Result<Tensor> {
    (-(x * x)?)?.exp()? * FRAC_2_SQRT_PI
}

derivatives! {
    neg(grad) => -grad;
    abs(grad, this) => grad * this.sgn()?;
    frac(grad) => Ok(grad.clone());
    sgn(grad, this, result) => {
        if !this.dtype().is_complex() {
            return grad.zeros_like();
        }
        // Only the component orthogonal to `this` changes its direction.
        let along = real(&(grad * aten::conj(result)?)?)?;
        let length = real(&(this * aten::conj(result)?)?)?;
        let slope = ((grad - (result * along)?)? / &length)?;
        slope.masked_fill(&length.eq(0)?, 0)
    };
    sign(grad) => grad.zeros_like();
    floor(grad) => grad.zeros_like();
    ceil(grad) => grad.zeros_like();
    trunc(grad) => grad.zeros_like();
    round(grad) => grad.zeros_like();
    round_decimals(grad) => grad.zeros_like();
    nan_to_num(grad, this) => grad * this.isfinite()?;
    frexp(grad, exponent), not_differentiable(exponent) => grad / exponent.exp2()?;
    sqrt(grad, result) => grad / (conj(result)? * 2)?;
    rsqrt(grad, result) => (grad * -0.5)? * conj(&((result * result)? * result)?)?;
    reciprocal(grad, result) => aten::neg(&(grad * conj(&(result * result)?)?)?);
    exp(grad, result) => grad * conj(result)?;
    exp2(grad, result) => (grad * conj(result)?)? * LN_2;
    expm1(grad, result) => grad * (conj(result)? + 1)?;
    log(grad, this) => grad / conj(this)?;
    log2(grad, this) => grad / (conj(this)? * LN_2)?;
    log10(grad, this) => grad / (conj(this)? * LN_10)?;
    log1p(grad, this) => grad / (conj(this)? + 1)?;
    sin(grad, this) => grad * conj(&this.cos()?)?;
    cos(grad, this) => aten::neg(&(grad * conj(&this.sin()?)?)?);
    tan(grad, result) => grad * conj(&((result * result)? + 1)?)?;
    asin(grad, this) => grad * inverse_sqrt_one_minus_square(this)?;
    acos(grad, this) => aten::neg(&(grad * inverse_sqrt_one_minus_square(this)?)?);
    atan(grad, this) => grad / conj(&((this * this)? + 1)?)?;
    sinh(grad, this) => grad * conj(&this.cosh()?)?;
    cosh(grad, this) => grad * conj(&this.sinh()?)?;
    tanh(grad, result) => aten::tanh_backward(grad, result);
    asinh(grad, this) => grad * conj(&((this * this)? + 1)?.rsqrt()?)?;
    // The product of two roots has the branch cuts of the complex function, the root of the product does not.
    acosh(grad, this) =>
        if this.dtype().is_complex() {
            grad * conj(&((this + 1)?.rsqrt()? * (this - 1)?.rsqrt()?)?)?
        } else {
            grad * ((this * this)? - 1)?.rsqrt()?
        };
    atanh(grad, this) => grad / conj(&(1 - (this * this)?)?)?;
    erf(grad, this) => grad * erf_derivative(this)?;
    erfc(grad, this) => aten::neg(&(grad * erf_derivative(this)?)?);
    erfinv(grad, result) => grad * ((result * result)?.exp()? * FRAC_2_SQRT_PI.recip())?;
    lgamma(grad, this) => grad * this.digamma()?;
    digamma(grad, this) => grad * aten::polygamma(1, this)?;
    polygamma(grad; n: i64, this: &Tensor) => grad * aten::polygamma(n.saturating_add(1), this)?;
    i0(grad, this) => grad * aten::special_i1(this)?;
    sigmoid(grad, result) => aten::sigmoid_backward(grad, result);
    deg2rad(grad) => grad * (PI / 180.0);
    rad2deg(grad) => grad * (180.0 / PI);
    logit(grad, this; eps: Option<f64>) => aten::logit_backward(grad, this, eps);
    sinc(grad, this) => {
        let angle = (this * PI)?;
        let square = (&angle * this)?;
        let slope = (((&angle * angle.cos()?)? - angle.sin()?)? / &square)?;
        (grad * conj(&slope)?)?.masked_fill(&square.eq(0)?, 0)
    };
    logit_backward(grad, grad_output, this; eps: Option<f64>) =>
        aten::logit_backward(grad, this, eps),
        {
            let once = aten::logit_backward(&(grad * grad_output)?, this, eps)?;
            (once * ((this * 2)? - 1)?)? / (this * (1 - this)?)?
        };
}
