//! Segments of a dimension.

use dispatch_runtime::prelude::*;

use crate::op_grad;

#[op_grad(aten::segment_reduce, not_differentiable(lengths, indices, offsets))]
#[expect(clippy::too_many_arguments, reason = "the operator has them")]
fn segment_reduce(
    grad: &Tensor,
    data: &Tensor,
    reduce: &str,
    lengths: Option<&Tensor>,
    offsets: Option<&Tensor>,
    axis: i64,
    initial: Option<Scalar>,
    result: &Tensor,
) -> Result<Tensor> {
    aten::_segment_reduce_backward(grad, result, data, reduce, lengths, offsets, axis, initial)
}
