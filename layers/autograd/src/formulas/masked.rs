//! Indexing that looks where a mask lets it, and what leaves the tensors.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::{Gradient, Outline, not_differentiable, op_grad};

#[op_grad(aten::_unsafe_index, not_differentiable(indices))]
fn unsafe_index(grad: &Tensor, this: &Outline, indices: &[Option<Tensor>]) -> Result<Tensor> {
    aten::_unsafe_index_put(&Tensor::zeros(this.sizes(), grad)?, indices, grad, true)
}

#[op_grad(aten::_unsafe_index_put, not_differentiable(indices))]
fn unsafe_index_put(
    grad: &Tensor,
    indices: &[Option<Tensor>],
    values: &Outline,
    accumulate: bool,
) -> (impl Gradient, impl Gradient) {
    (
        move || {
            if accumulate {
                return Ok(grad.clone());
            }
            aten::_unsafe_index_put(grad, indices, &Tensor::zeros(values.sizes(), grad)?, false)
        },
        move || aten::_unsafe_index(grad, indices),
    )
}

#[op_grad(aten::_unsafe_masked_index, not_differentiable(mask, indices))]
fn unsafe_masked_index(grad: &Tensor, this: &Outline, mask: &Tensor, indices: &[Option<Tensor>]) -> Result<Tensor> {
    aten::_unsafe_masked_index_put_accumulate(&Tensor::zeros(this.sizes(), grad)?, mask, indices, grad)
}

#[op_grad(aten::_unsafe_masked_index_put_accumulate, not_differentiable(mask, indices))]
fn unsafe_masked_index_put(grad: &Tensor, mask: &Tensor, indices: &[Option<Tensor>]) -> (impl Gradient, impl Gradient) {
    (grad.clone(), move || aten::_unsafe_masked_index(grad, mask, indices, 0.into()))
}

not_differentiable!(aten::_local_scalar_dense);
