//! Sums, products, and what is made of them.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use super::unknown;
use crate::complex::conj;
use crate::{Gradient, not_differentiable, op_grad};

/// `grad * factor`, where the factor is not one, conjugated as factors are.
pub(super) fn scaled(grad: &Tensor, factor: Scalar) -> Result<Tensor> {
    match factor {
        Scalar::Complex(factor) => grad * factor.conj(),
        factor if factor.to_f64() == Some(1.0) => Ok(grad.clone()),
        factor => grad * factor,
    }
}

/// [`scaled`], with the other sign.
fn scaled_away(grad: &Tensor, factor: Scalar) -> Result<Tensor> {
    scaled(grad, factor)?.neg()
}

#[op_grad(aten::add)]
fn add(grad: &Tensor, alpha: Scalar) -> (impl Gradient, impl Gradient) {
    (grad.clone(), move || scaled(grad, alpha))
}

#[op_grad(aten::sub)]
fn sub(grad: &Tensor, alpha: Scalar) -> (impl Gradient, impl Gradient) {
    (grad.clone(), move || scaled_away(grad, alpha))
}

#[op_grad(aten::rsub)]
fn rsub(grad: &Tensor, alpha: Scalar) -> (impl Gradient, impl Gradient) {
    (move || scaled_away(grad, alpha), grad.clone())
}

#[op_grad(aten::mul)]
fn mul(grad: &Tensor, this: &Tensor, other: &Tensor) -> (impl Gradient, impl Gradient) {
    (move || grad * conj(other)?, move || grad * conj(this)?)
}

#[op_grad(aten::addcmul)]
fn addcmul(
    grad: &Tensor,
    tensor1: &Tensor,
    tensor2: &Tensor,
    value: Scalar,
) -> (impl Gradient, impl Gradient, impl Gradient) {
    (grad.clone(), move || scaled(grad, value)? * conj(tensor2)?, move || scaled(grad, value)? * conj(tensor1)?)
}

#[op_grad(aten::addcdiv)]
fn addcdiv(
    grad: &Tensor,
    tensor1: &Tensor,
    tensor2: &Tensor,
    value: Scalar,
) -> (impl Gradient, impl Gradient, impl Gradient) {
    (
        grad.clone(),
        move || scaled(grad, value)? / conj(tensor2)?,
        move || scaled_away(grad, value)? * conj(&(tensor1 / (tensor2 * tensor2)?)?)?,
    )
}

#[op_grad(aten::lerp)]
fn lerp(grad: &Tensor, this: &Tensor, end: &Tensor, weight: &Tensor) -> (impl Gradient, impl Gradient, impl Gradient) {
    (move || grad * conj(&(1 - weight)?)?, move || grad * conj(weight)?, move || grad * conj(&(end - this)?)?)
}

#[op_grad(aten::hypot)]
fn hypot(grad: &Tensor, this: &Tensor, other: &Tensor, result: &Tensor) -> (impl Gradient, impl Gradient) {
    (move || grad * (this / result)?, move || grad * (other / result)?)
}

#[op_grad(aten::atan2)]
fn atan2(grad: &Tensor, this: &Tensor, other: &Tensor) -> (impl Gradient, impl Gradient) {
    // Where both are zero there is no direction, and no slope.
    let inverse = move || {
        let square = ((this * this)? + (other * other)?)?;
        square.reciprocal()?.masked_fill_scalar(&square.eq_scalar(0)?, 0)
    };
    (move || grad * (other * inverse()?)?, move || grad * (this * inverse()?)?.neg()?)
}

#[op_grad(aten::xlogy)]
fn xlogy(grad: &Tensor, this: &Tensor, other: &Tensor) -> (impl Gradient, impl Gradient) {
    (
        move || {
            let nothing = aten::logical_and(&this.eq_scalar(0)?, &other.le_scalar(0)?)?;
            grad.xlogy(other)?.masked_fill_scalar(&nothing, 0)
        },
        move || grad * (this / other)?,
    )
}

#[op_grad(aten::logaddexp)]
fn logaddexp(grad: &Tensor, this: &Tensor, other: &Tensor) -> (impl Gradient, impl Gradient) {
    let share = move |own: &Tensor, other: &Tensor| grad / conj(&((other - own)?.exp()? + 1)?)?;
    (move || share(this, other), move || share(other, this))
}

#[op_grad(aten::logaddexp2)]
fn logaddexp2(grad: &Tensor, this: &Tensor, other: &Tensor) -> (impl Gradient, impl Gradient) {
    let share = move |own: &Tensor, other: &Tensor| grad / ((other - own)?.exp2()? + 1)?;
    (move || share(this, other), move || share(other, this))
}

/// The density of a gamma distribution, as its share has no known slope in the shape.
fn gamma_density(shape: &Tensor, x: &Tensor) -> Result<Tensor> {
    ((((shape - 1)? * x.log()?)? - x)? - shape.lgamma()?)?.exp()
}

#[op_grad(aten::igamma)]
fn igamma(grad: &Tensor, this: &Tensor, other: &Tensor) -> (impl Gradient, impl Gradient) {
    (unknown::<aten::igamma>, move || grad * gamma_density(this, other)?)
}

#[op_grad(aten::igammac)]
fn igammac(grad: &Tensor, this: &Tensor, other: &Tensor) -> (impl Gradient, impl Gradient) {
    (unknown::<aten::igammac>, move || (grad * gamma_density(this, other)?)?.neg())
}

#[op_grad(aten::nextafter)]
fn nextafter(grad: &Tensor, this: &Tensor, other: &Tensor) -> (impl Gradient, impl Gradient) {
    (move || grad.masked_fill_scalar(&this.eq(other)?, 0), None::<Tensor>)
}

#[op_grad(aten::copysign)]
fn copysign(grad: &Tensor, this: &Tensor, result: &Tensor) -> (impl Gradient, impl Gradient) {
    (
        move || {
            let ratio = (result / this)?;
            grad * ratio.masked_fill_scalar(&this.eq_scalar(0)?, 0)?
        },
        None::<Tensor>,
    )
}

not_differentiable!(aten::gcd, aten::lcm);
