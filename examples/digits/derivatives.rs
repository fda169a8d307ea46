//! Derivatives of standard operators, until the layer has them.
use opdispatch::autograd::Gradient;
use opdispatch::prelude::*;

#[op_grad(aten::addmm)]
fn addmm(grad: &Tensor, mat1: &Tensor, mat2: &Tensor) -> (impl Gradient, impl Gradient, impl Gradient) {
    (move || grad.sum_dim_intlist(Some(&[0]), false), move || grad.mm(&mat2.t()?), move || mat1.t()?.mm(grad))
}

#[op_grad(aten::t)]
fn t(grad: &Tensor) -> Result<Tensor> {
    grad.t()
}

#[op_grad(aten::_log_softmax)]
fn log_softmax(grad: &Tensor, dim: i64, result: &Tensor) -> Result<Tensor> {
    grad - (result.exp()? * grad.sum_dim_intlist(Some(&[dim]), true)?)?
}

#[op_grad(aten::nll_loss_forward, not_differentiable(target, weight, total_weight))]
fn nll_loss_forward(
    grad: &Tensor,
    this: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: i64,
    ignore_index: i64,
    total_weight: &Tensor,
) -> Result<Tensor> {
    aten::nll_loss_backward(grad, this, target, weight, reduction, ignore_index, total_weight)
}

#[op_grad(aten::_to_copy)]
fn to_copy(grad: &Tensor, this: &opdispatch::autograd::Outline) -> Result<Tensor> {
    grad.to(this.dtype())
}
