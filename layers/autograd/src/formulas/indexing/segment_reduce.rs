//! Gradient formula of `segment_reduce`.

use dispatch_runtime::prelude::*;

derivatives! {
    segment_reduce(grad; result: &Tensor, _: ...), not_differentiable(lengths, indices, offsets) =>
        aten::_segment_reduce_backward(grad, result, data, reduce, lengths, offsets, axis, initial);
}
