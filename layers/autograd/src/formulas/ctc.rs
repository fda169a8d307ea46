//! Sequences of labels.

use dispatch_runtime::prelude::*;

use crate::op_grad;

#[op_grad(aten::_ctc_loss, not_differentiable(targets, result1))]
#[expect(clippy::too_many_arguments, reason = "the operator has them")]
fn ctc_loss(
    grad: &Tensor,
    log_probs: &Tensor,
    targets: &Tensor,
    input_lengths: &[i64],
    target_lengths: &[i64],
    blank: i64,
    zero_infinity: bool,
    result0: &Tensor,
    result1: &Tensor,
) -> Result<Tensor> {
    aten::_ctc_loss_backward(
        grad,
        log_probs,
        targets,
        input_lengths,
        target_lengths,
        result0,
        result1,
        blank,
        zero_infinity,
    )
}
