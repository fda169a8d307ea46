//! Gradient formulas of sums, products and functions of two operands.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::complex::conj;
use crate::formulas::fail_without_formula;
use crate::{Gradient, not_differentiable, op_grad};

/// Returns `grad` times the conjugate of `factor`, or `grad` itself if the factor is one.
pub(crate) fn scale_gradient(grad: &Tensor, factor: Scalar) -> Result<Tensor> {
    match factor {
        Scalar::Complex(factor) => grad * factor.conj(),
        factor if factor.to_f64() == Some(1.0) => Ok(grad.clone()),
        factor => grad * factor,
    }
}

/// Returns the negative of [`scale_gradient`].
fn negate_scaled_gradient(grad: &Tensor, factor: Scalar) -> Result<Tensor> {
    aten::neg(&scale_gradient(grad, factor)?)
}

/// Returns the density of a gamma distribution: the derivative of `igamma` with respect to `x`.
fn gamma_density(shape: &Tensor, x: &Tensor) -> Result<Tensor> {
    ((((shape - 1)? * x.log()?)? - x)? - shape.lgamma()?)?.exp()
}

/// Returns the reciprocal of `x^2 + y^2`, and zero if both are zero.
fn inverse_sum_of_squares(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    let square = ((x * x)? + (y * y)?)?;
    square.reciprocal()?.masked_fill(&square.eq(0)?, 0)
}

derivatives! {
    add(grad; alpha: Scalar) => Ok(grad.clone()), scale_gradient(grad, alpha);
    sub(grad; alpha: Scalar) => Ok(grad.clone()), negate_scaled_gradient(grad, alpha);
    rsub(grad; alpha: Scalar) => negate_scaled_gradient(grad, alpha), Ok(grad.clone());
    mul(grad, this, other) => grad * conj(other)?, grad * conj(this)?;
    addcmul(grad, tensor1, tensor2; value: Scalar) =>
        Ok(grad.clone()), scale_gradient(grad, value)? * conj(tensor2)?, scale_gradient(grad, value)? * conj(tensor1)?;
    addcdiv(grad, tensor1, tensor2; value: Scalar) =>
        Ok(grad.clone()),
        scale_gradient(grad, value)? / conj(tensor2)?,
        negate_scaled_gradient(grad, value)? * conj(&(tensor1 / (tensor2 * tensor2)?)?)?;
    lerp(grad, this, end, weight) => grad * conj(&(1 - weight)?)?, grad * conj(weight)?, grad * conj(&(end - this)?)?;
    hypot(grad, this, other, result) => grad * (this / result)?, grad * (other / result)?;
    atan2(grad, this, other) =>
        grad * (other * inverse_sum_of_squares(this, other)?)?, grad * (-(this * inverse_sum_of_squares(this, other)?)?)?;
    logaddexp(grad, this, other) =>
        grad / conj(&((other - this)?.exp()? + 1)?)?, grad / conj(&((this - other)?.exp()? + 1)?)?;
    logaddexp2(grad, this, other) => grad / ((other - this)?.exp2()? + 1)?, grad / ((this - other)?.exp2()? + 1)?;
    xlogy(grad, this, other) =>
        {
            let nothing = aten::logical_and(&this.eq(0)?, &other.le(0)?)?;
            grad.xlogy(other)?.masked_fill(&nothing, 0)
        },
        grad * (this / other)?;
    igamma(grad, this, other) => fail_without_formula::<aten::igamma>(), grad * gamma_density(this, other)?;
    igammac(grad, this, other) => fail_without_formula::<aten::igammac>(), -(grad * gamma_density(this, other)?)?;
}

#[op_grad(aten::nextafter)]
fn nextafter(grad: &Tensor, this: &Tensor, other: &Tensor) -> (impl Gradient, impl Gradient) {
    (move || grad.masked_fill(&this.eq(other)?, 0), None::<Tensor>)
}

#[op_grad(aten::copysign)]
fn copysign(grad: &Tensor, this: &Tensor, result: &Tensor) -> (impl Gradient, impl Gradient) {
    (move || grad * (result / this)?.masked_fill(&this.eq(0)?, 0)?, None::<Tensor>)
}

not_differentiable!(aten::gcd, aten::lcm);
