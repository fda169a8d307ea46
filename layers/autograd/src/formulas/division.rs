//! Quotients, remainders and powers.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::complex::{conj, real};
use crate::{Gradient, op_grad};

#[op_grad(aten::div)]
fn div(grad: &Tensor, this: &Tensor, other: &Tensor) -> (impl Gradient, impl Gradient) {
    (move || of_dividend(grad, other), move || of_divisor(grad, this, other))
}

fn of_dividend(grad: &Tensor, other: &Tensor) -> Result<Tensor> {
    grad / conj(other)?
}

fn of_divisor(grad: &Tensor, this: &Tensor, other: &Tensor) -> Result<Tensor> {
    (grad * conj(&((this / other)? / other)?)?)?.neg()
}

/// Of a rounded quotient there is no slope.
macro_rules! quotients {
    ($($name:ident $operator:ident)*) => {$(
        #[op_grad(aten::$operator)]
        fn $name(
            grad: &Tensor,
            this: &Tensor,
            other: &Tensor,
            rounding_mode: Option<&str>,
        ) -> (impl Gradient, impl Gradient) {
            let smooth = rounding_mode.is_none();
            (
                move || if smooth { of_dividend(grad, other) } else { grad.zeros_like() },
                move || if smooth { of_divisor(grad, this, other) } else { grad.zeros_like() },
            )
        }
    )*};
}

quotients! { div_mode div_tensor_mode div_mode_in_place div__tensor_mode }

#[op_grad(aten::remainder)]
fn remainder(grad: &Tensor, this: &Tensor, other: &Tensor) -> (impl Gradient, impl Gradient) {
    (grad.clone(), move || (grad * aten::div_tensor_mode(this, other, Some("floor"))?)?.neg())
}

#[op_grad(aten::fmod)]
fn fmod(grad: &Tensor, this: &Tensor, other: &Tensor) -> (impl Gradient, impl Gradient) {
    (grad.clone(), move || (grad * aten::div_tensor_mode(this, other, Some("trunc"))?)?.neg())
}

/// The result is computed again where the exponent asks for a gradient: mostly it does not, and who writes over a power may do so.
#[op_grad(aten::pow_tensor_tensor)]
fn pow(grad: &Tensor, this: &Tensor, exponent: &Tensor) -> (impl Gradient, impl Gradient) {
    let of_exponent = move || of_exponent(grad, this, exponent, &this.pow_tensor_tensor(exponent)?);
    (move || of_base(grad, this, exponent), of_exponent)
}

#[op_grad(aten::pow_)]
fn pow_(grad: &Tensor, this: &Tensor, exponent: &Tensor) -> (impl Gradient, impl Gradient) {
    pow(grad, this, exponent)
}

fn of_base(grad: &Tensor, this: &Tensor, exponent: &Tensor) -> Result<Tensor> {
    let slope = (exponent * this.pow_tensor_tensor(&(exponent - 1)?)?)?;
    (grad * conj(&slope)?)?.masked_fill_scalar(&exponent.eq_scalar(0)?, 0)
}

/// A power of zero is zero for every exponent that is not negative; complex ones go by their real part.
fn of_exponent(grad: &Tensor, this: &Tensor, exponent: &Tensor, result: &Tensor) -> Result<Tensor> {
    let flat = this.eq_scalar(0)?.logical_and(&real(exponent)?.ge_scalar(0)?)?;
    let slope = (result * this.to(result.dtype())?.log()?)?;
    (grad * conj(&slope)?)?.masked_fill_scalar(&flat, 0)
}
