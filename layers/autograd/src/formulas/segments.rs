//! Segments of a dimension.

use dispatch_runtime::prelude::*;

derivatives! {
    #[expect(clippy::too_many_arguments, reason = "the operator has them")]
    segment_reduce(
        grad, data; reduce: &str, lengths: Option<&Tensor>, offsets: Option<&Tensor>, axis: i64,
        initial: Option<Scalar>, result: &Tensor
    ), not_differentiable(lengths, indices, offsets) =>
        aten::_segment_reduce_backward(grad, result, data, reduce, lengths, offsets, axis, initial);
}
