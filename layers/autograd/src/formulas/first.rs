//! The first ones.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::complex::conj;
use crate::{Gradient, Outline, not_differentiable, op_grad};

#[op_grad(aten::add)]
fn add(grad: &Tensor, alpha: Scalar) -> (impl Gradient, impl Gradient) {
    (grad.clone(), move || grad * alpha)
}

#[op_grad(aten::mul)]
fn mul(grad: &Tensor, this: &Tensor, other: &Tensor) -> (impl Gradient, impl Gradient) {
    (move || grad * conj(other)?, move || grad * conj(this)?)
}

#[op_grad(aten::mm)]
fn mm(grad: &Tensor, this: &Tensor, mat2: &Tensor) -> (impl Gradient, impl Gradient) {
    (move || grad.mm(&conj(&mat2.t()?)?), move || conj(&this.t()?)?.mm(grad))
}

#[op_grad(aten::sum)]
fn sum(grad: &Tensor, this: &Outline) -> Result<Tensor> {
    grad.expand(this.sizes())
}

#[op_grad(aten::relu)]
fn relu(grad: &Tensor, result: &Tensor) -> Result<Tensor> {
    aten::threshold_backward(grad, result, 0.into())
}

#[op_grad(aten::view)]
fn view(grad: &Tensor, this: &Outline) -> Result<Tensor> {
    grad.reshape(this.sizes())
}

not_differentiable!(aten::detach);

#[op_grad(aten::copy_, not_differentiable(this))]
fn copy_(grad: &Tensor) -> Result<Tensor> {
    Ok(grad.clone())
}

#[op_grad(aten::clone)]
fn clone(grad: &Tensor) -> Result<Tensor> {
    Ok(grad.clone())
}

#[op_grad(aten::as_strided)]
fn as_strided(grad: &Tensor, this: &Outline, result: &Outline) -> Result<Tensor> {
    crate::views::scattered(this, result, grad)
}
