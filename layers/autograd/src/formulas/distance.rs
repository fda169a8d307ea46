//! Distances of rows.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::{Gradient, op_grad};

#[op_grad(aten::_cdist_forward)]
fn cdist(grad: &Tensor, x1: &Tensor, x2: &Tensor, p: f64, result: &Tensor) -> (impl Gradient, impl Gradient) {
    let turned = |tensor: &Tensor| tensor.transpose_int(-2, -1);
    (
        move || aten::_cdist_backward(grad, x1, x2, p, result),
        move || aten::_cdist_backward(&turned(grad)?, x2, x1, p, &turned(result)?),
    )
}

#[op_grad(aten::_euclidean_dist)]
fn euclidean(grad: &Tensor, x1: &Tensor, x2: &Tensor, result: &Tensor) -> (impl Gradient, impl Gradient) {
    // What lies in one place has no direction.
    let ratio = move || (grad / result)?.masked_fill_scalar(&result.eq_scalar(0)?, 0);
    let pulled = |ratio: &Tensor, near: &Tensor, far: &Tensor| {
        (near * ratio.sum_dim_intlist(Some(&[-1]), true)?)? - ratio.matmul(far)?
    };
    (move || pulled(&ratio()?, x1, x2), move || pulled(&ratio()?.transpose_int(-2, -1)?, x2, x1))
}

#[op_grad(aten::_pdist_forward)]
fn pdist(grad: &Tensor, this: &Tensor, p: f64, result: &Tensor) -> Result<Tensor> {
    aten::_pdist_backward(grad, this, p, result)
}
