//! Copies: between dtypes, layouts in memory, and devices.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::{Gradient, Outline, op_grad};

#[op_grad(aten::copy_, not_differentiable(this))]
fn copy_(grad: &Tensor, src: &Outline) -> Result<Tensor> {
    grad.to(src.device())
}

#[op_grad(aten::copy, not_differentiable(this))]
fn copy(grad: &Tensor, src: &Outline) -> Result<Tensor> {
    grad.to(src.device())
}

#[op_grad(aten::clone)]
fn clone(grad: &Tensor) -> Tensor {
    grad.clone()
}

#[op_grad(aten::alias_copy)]
fn alias_copy(grad: &Tensor) -> Tensor {
    grad.clone()
}

#[op_grad(aten::_to_copy)]
fn _to_copy(grad: &Tensor, this: &Outline) -> Result<Tensor> {
    grad.to(this.device())
}

#[op_grad(aten::_pin_memory)]
fn _pin_memory(grad: &Tensor) -> Tensor {
    grad.clone()
}

#[op_grad(aten::fill_scalar)]
fn fill_scalar(grad: &Tensor) -> Result<Tensor> {
    grad.zeros_like()
}

#[op_grad(aten::fill)]
fn fill(grad: &Tensor) -> (impl Gradient, impl Gradient) {
    (move || grad.zeros_like(), move || grad.sum())
}

#[op_grad(aten::zero)]
fn zero(grad: &Tensor) -> Result<Tensor> {
    grad.zeros_like()
}
