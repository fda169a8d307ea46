//! Functions of one number.

use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10, PI};

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::complex::conj;
use crate::op_grad;

#[op_grad(aten::sqrt)]
fn sqrt(grad: &Tensor, result: &Tensor) -> Result<Tensor> {
    grad / (conj(result)? * 2)?
}

#[op_grad(aten::rsqrt)]
fn rsqrt(grad: &Tensor, result: &Tensor) -> Result<Tensor> {
    (grad * -0.5)? * conj(&((result * result)? * result)?)?
}

#[op_grad(aten::reciprocal)]
fn reciprocal(grad: &Tensor, result: &Tensor) -> Result<Tensor> {
    (grad * conj(&(result * result)?)?)?.neg()
}

#[op_grad(aten::exp)]
fn exp(grad: &Tensor, result: &Tensor) -> Result<Tensor> {
    grad * conj(result)?
}

#[op_grad(aten::exp2)]
fn exp2(grad: &Tensor, result: &Tensor) -> Result<Tensor> {
    (grad * conj(result)?)? * LN_2
}

#[op_grad(aten::expm1)]
fn expm1(grad: &Tensor, result: &Tensor) -> Result<Tensor> {
    grad * (conj(result)? + 1)?
}

#[op_grad(aten::log)]
fn log(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    grad / conj(this)?
}

#[op_grad(aten::log2)]
fn log2(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    grad / (conj(this)? * LN_2)?
}

#[op_grad(aten::log10)]
fn log10(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    grad / (conj(this)? * LN_10)?
}

#[op_grad(aten::log1p)]
fn log1p(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    grad / (conj(this)? + 1)?
}

#[op_grad(aten::sin)]
fn sin(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    grad * conj(&this.cos()?)?
}

#[op_grad(aten::cos)]
fn cos(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    (grad * conj(&this.sin()?)?)?.neg()
}

#[op_grad(aten::tan)]
fn tan(grad: &Tensor, result: &Tensor) -> Result<Tensor> {
    grad * conj(&((result * result)? + 1)?)?
}

/// `1 / sqrt(1 - x^2)`
fn across(x: &Tensor) -> Result<Tensor> {
    conj(&(1 - (x * x)?)?.rsqrt()?)
}

#[op_grad(aten::asin)]
fn asin(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    grad * across(this)?
}

#[op_grad(aten::acos)]
fn acos(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    (grad * across(this)?)?.neg()
}

#[op_grad(aten::atan)]
fn atan(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    grad / conj(&((this * this)? + 1)?)?
}

#[op_grad(aten::sinh)]
fn sinh(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    grad * conj(&this.cosh()?)?
}

#[op_grad(aten::cosh)]
fn cosh(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    grad * conj(&this.sinh()?)?
}

#[op_grad(aten::tanh)]
fn tanh(grad: &Tensor, result: &Tensor) -> Result<Tensor> {
    aten::tanh_backward(grad, result)
}

#[op_grad(aten::asinh)]
fn asinh(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    grad * conj(&((this * this)? + 1)?.rsqrt()?)?
}

#[op_grad(aten::acosh)]
fn acosh(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    if this.dtype().is_complex() {
        // The two roots have branches of their own.
        return grad * conj(&((this + 1)?.rsqrt()? * (this - 1)?.rsqrt()?)?)?;
    }
    grad * ((this * this)? - 1)?.rsqrt()?
}

#[op_grad(aten::atanh)]
fn atanh(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    grad / conj(&(1 - (this * this)?)?)?
}

/// The derivative of the error function.
fn bell(x: &Tensor) -> Result<Tensor> {
    (-(x * x)?)?.exp()? * FRAC_2_SQRT_PI
}

#[op_grad(aten::erf)]
fn erf(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    grad * bell(this)?
}

#[op_grad(aten::erfc)]
fn erfc(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    (grad * bell(this)?)?.neg()
}

#[op_grad(aten::erfinv)]
fn erfinv(grad: &Tensor, result: &Tensor) -> Result<Tensor> {
    grad * ((result * result)?.exp()? * FRAC_2_SQRT_PI.recip())?
}

#[op_grad(aten::lgamma)]
fn lgamma(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    grad * this.digamma()?
}

#[op_grad(aten::digamma)]
fn digamma(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    grad * aten::polygamma(1, this)?
}

#[op_grad(aten::polygamma)]
fn polygamma(grad: &Tensor, n: i64, this: &Tensor) -> Result<Tensor> {
    grad * aten::polygamma(n.saturating_add(1), this)?
}

#[op_grad(aten::i0)]
fn i0(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    grad * this.special_i1()?
}

#[op_grad(aten::sinc)]
fn sinc(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    let angle = (this * PI)?;
    let square = (&angle * this)?;
    let slope = (((&angle * angle.cos()?)? - angle.sin()?)? / &square)?;
    (grad * conj(&slope)?)?.masked_fill_scalar(&square.eq_scalar(0)?, 0)
}

#[op_grad(aten::sigmoid)]
fn sigmoid(grad: &Tensor, result: &Tensor) -> Result<Tensor> {
    aten::sigmoid_backward(grad, result)
}

#[op_grad(aten::deg2rad)]
fn deg2rad(grad: &Tensor) -> Result<Tensor> {
    grad * (PI / 180.0)
}

#[op_grad(aten::rad2deg)]
fn rad2deg(grad: &Tensor) -> Result<Tensor> {
    grad * (180.0 / PI)
}

#[op_grad(aten::logit)]
fn logit(grad: &Tensor, this: &Tensor, eps: Option<f64>) -> Result<Tensor> {
    aten::logit_backward(grad, this, eps)
}

#[op_grad(aten::logit_backward)]
fn logit_backward(
    grad: &Tensor,
    grad_output: &Tensor,
    this: &Tensor,
    eps: Option<f64>,
) -> (impl crate::Gradient, impl crate::Gradient) {
    (
        move || aten::logit_backward(grad, this, eps),
        move || {
            let once = aten::logit_backward(&(grad * grad_output)?, this, eps)?;
            (once * ((this * 2)? - 1)?)? / (this * (1 - this)?)?
        },
    )
}
