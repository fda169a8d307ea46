//! Gradient formulas of unchecked and masked indexing. `_local_scalar_dense` is not differentiable.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::{TensorOutline, not_differentiable};

derivatives! {
    _unsafe_index(grad; this: &TensorOutline, indices: &[Option<Tensor>]), not_differentiable(indices) =>
        aten::_unsafe_index_put(&Tensor::zeros(this.sizes(), grad)?, indices, grad, true);
    _unsafe_index_put(grad; indices: &[Option<Tensor>], values: &TensorOutline, accumulate: bool),
        not_differentiable(indices) =>
        if accumulate {
            Ok(grad.clone())
        } else {
            aten::_unsafe_index_put(grad, indices, &Tensor::zeros(values.sizes(), grad)?, false)
        },
        aten::_unsafe_index(grad, indices);
    _unsafe_masked_index(grad; this: &TensorOutline, mask: &Tensor, indices: &[Option<Tensor>]),
        not_differentiable(mask, indices) =>
        aten::_unsafe_masked_index_put_accumulate(&Tensor::zeros(this.sizes(), grad)?, mask, indices, grad);
    _unsafe_masked_index_put_accumulate(grad, mask; indices: &[Option<Tensor>]), not_differentiable(mask, indices) =>
        Ok(grad.clone()), aten::_unsafe_masked_index(grad, mask, indices, 0.into());
}

not_differentiable!(aten::_local_scalar_dense);
