//! Gradient formulas of quotients, remainders and powers.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::complex::{conj, real};

fn dividend_gradient(grad: &Tensor, other: &Tensor) -> Result<Tensor> {
    grad / conj(other)?
}

fn divisor_gradient(grad: &Tensor, this: &Tensor, other: &Tensor) -> Result<Tensor> {
    aten::neg(&(grad * conj(&((this / other)? / other)?)?)?)
}

fn pow_base_gradient(grad: &Tensor, this: &Tensor, exponent: &Tensor) -> Result<Tensor> {
    let slope = (exponent * this.pow(&one_less(exponent)?)?)?;
    (grad * conj(&slope)?)?.masked_fill(&exponent.eq(0)?, 0)
}

/// Returns the exponent minus 1. A difference of numbers would have the default dtype, and round an exponent such as 1/3.
fn one_less(exponent: &Tensor) -> Result<Tensor> {
    if exponent.is_number() {
        match exponent.to_scalar()? {
            Scalar::Float(number) => return Ok(Tensor::number((number - 1.0).into())),
            Scalar::Complex(number) => return Ok(Tensor::number((number - 1.0).into())),
            Scalar::Bool(_) | Scalar::Int(_) => {}
        }
    }
    exponent + -1
}

/// Returns the gradient of a power's exponent. It is zero if the base is zero and the exponent's real part is not negative.
///
/// The power is computed again and not saved: this gradient is rarely requested, and an in-place power stays possible.
fn pow_exponent_gradient(grad: &Tensor, this: &Tensor, exponent: &Tensor) -> Result<Tensor> {
    let result = this.pow(exponent)?;
    let flat = this.eq(0)?.logical_and(&real(exponent)?.ge(0)?)?;
    let slope = (&result * this.to(result.dtype())?.log()?)?;
    (grad * conj(&slope)?)?.masked_fill(&flat, 0)
}

derivatives! {
    div(grad, this, other) => dividend_gradient(grad, other), divisor_gradient(grad, this, other);
    remainder(grad, this, other) =>
        Ok(grad.clone()), -(grad * aten::div_tensor_mode(this, other, Some("floor"))?)?;
    fmod(grad, this, other) => Ok(grad.clone()), -(grad * aten::div_tensor_mode(this, other, Some("trunc"))?)?;
    // A rounded quotient has gradient zero.
    div_tensor_mode(grad, this, other; rounding_mode: Option<&str>) =>
        if rounding_mode.is_none() { dividend_gradient(grad, other) } else { grad.zeros_like() },
        if rounding_mode.is_none() { divisor_gradient(grad, this, other) } else { grad.zeros_like() };
    div__tensor_mode(grad, this, other; rounding_mode: Option<&str>) =>
        if rounding_mode.is_none() { dividend_gradient(grad, other) } else { grad.zeros_like() },
        if rounding_mode.is_none() { divisor_gradient(grad, this, other) } else { grad.zeros_like() };
    pow_tensor_tensor(grad, this, exponent) => pow_base_gradient(grad, this, exponent), pow_exponent_gradient(grad, this, exponent);
    pow_(grad, this, exponent) => pow_base_gradient(grad, this, exponent), pow_exponent_gradient(grad, this, exponent);
}
