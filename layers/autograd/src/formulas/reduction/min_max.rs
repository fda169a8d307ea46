//! Gradient formulas of reductions to the largest or smallest element.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use super::sums::{restore_dims, sum_optional_gradients};
use crate::{not_differentiable, op_grad};

/// Divides the gradient of an extreme equally among the elements that reach it.
fn extremum_gradient(grad: &Tensor, this: &Tensor, dims: &[i64], keepdim: bool, extreme: &Tensor) -> Result<Tensor> {
    let reaches = this.eq(&restore_dims(extreme, this.sizes(), dims, keepdim)?)?;
    let sharers = reaches.sum_keepdim(dims)?;
    (restore_dims(grad, this.sizes(), dims, keepdim)? / sharers)? * reaches
}

/// Divides the gradient of one selected element equally among all elements with its value.
pub(crate) fn share_among_equal_elements(grad: &Tensor, this: &Tensor, value: &Tensor) -> Result<Tensor> {
    let same = this.eq(value)?.logical_or(&this.isnan()?.logical_and(&value.isnan()?)?)?;
    (grad / same.sum()?)? * same
}

derivatives! {
    amax(grad, this; dim: &[i64], keepdim: bool, result: &Tensor) => extremum_gradient(grad, this, dim, keepdim, result);
    amin(grad, this; dim: &[i64], keepdim: bool, result: &Tensor) => extremum_gradient(grad, this, dim, keepdim, result);
    max(grad, this, result) => share_among_equal_elements(grad, this, result);
    min(grad, this, result) => share_among_equal_elements(grad, this, result);
}

#[op_grad(aten::aminmax)]
fn aminmax(
    grad_min: Option<&Tensor>,
    grad_max: Option<&Tensor>,
    this: &Tensor,
    dim: Option<i64>,
    keepdim: bool,
    min: &Tensor,
    max: &Tensor,
) -> Result<Option<Tensor>> {
    let dims: Vec<i64> = dim.into_iter().collect();
    let of = |grad: Option<&Tensor>, extreme| {
        grad.map(|grad| extremum_gradient(grad, this, &dims, keepdim, extreme)).transpose()
    };
    sum_optional_gradients(of(grad_min, min)?, of(grad_max, max)?)
}

not_differentiable!(aten::argmax, aten::argmin);
