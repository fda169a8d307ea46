//! Gradient formula of `_embedding_bag`.

use dispatch_runtime::prelude::*;

derivatives! {
    _embedding_bag(grad; result1: &Tensor, result2: &Tensor, result3: &Tensor, _: ...), not_differentiable(indices, offsets, result1, result2, result3) =>
        aten::_embedding_bag_backward(
            grad,
            indices,
            offsets,
            result1,
            result2,
            result3,
            weight.sizes()[0],
            scale_grad_by_freq,
            mode,
            sparse,
            per_sample_weights,
            padding_idx,
        ),
        aten::_embedding_bag_per_sample_weights_backward(grad, weight, indices, offsets, result1, mode, padding_idx);
}
