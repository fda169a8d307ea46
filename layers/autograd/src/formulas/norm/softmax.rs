//! Gradient formulas of softmax and log-softmax.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::{Gradient, TensorOutline, op_grad};

/// Returns the sum along a dimension, which is kept.
fn sum_along_dim(tensor: &Tensor, dim: i64) -> Result<Tensor> {
    tensor.sum_keepdim(dim)
}

derivatives! {
    _softmax(grad; this: &TensorOutline, dim: i64, result: &Tensor) =>
        aten::_softmax_backward_data(grad, result, dim, this.dtype());
    _safe_softmax(grad; this: &TensorOutline, dim: i64, result: &Tensor) =>
        aten::_softmax_backward_data(grad, result, dim, this.dtype());
    _log_softmax(grad; this: &TensorOutline, dim: i64, result: &Tensor) =>
        aten::_log_softmax_backward_data(grad, result, dim, this.dtype());
}

#[op_grad(aten::_softmax_backward_data)]
fn _softmax_backward_data(grad: &Tensor, _: ...) -> (impl Gradient, impl Gradient) {
    let grad = move || grad.to(output.dtype());
    (
        move || aten::_softmax_backward_data(&grad()?, output, dim, input_dtype),
        move || {
            let grad = grad()?;
            let product = (&grad * (grad_output - sum_along_dim(&(grad_output * output)?, dim)?)?)?;
            product - (grad_output * sum_along_dim(&(grad * output)?, dim)?)?
        },
    )
}

#[op_grad(aten::_log_softmax_backward_data)]
fn _log_softmax_backward_data(grad: &Tensor, _: ...) -> (impl Gradient, impl Gradient) {
    let grad = move || grad.to(output.dtype());
    (
        move || {
            let grad = grad()?;
            &grad - sum_along_dim(&(&grad * output.exp()?)?, dim)?
        },
        move || -((sum_along_dim(grad_output, dim)? * output.exp()?)? * grad()?)?,
    )
}
