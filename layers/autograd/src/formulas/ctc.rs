//! Sequences of labels.

use dispatch_runtime::prelude::*;

derivatives! {
    #[expect(clippy::too_many_arguments, reason = "the operator has them")]
    _ctc_loss(
        grad, log_probs, targets; input_lengths: &[i64], target_lengths: &[i64], blank: i64, zero_infinity: bool,
        result0: &Tensor, result1: &Tensor
    ), not_differentiable(targets, result1) =>
        aten::_ctc_loss_backward(
            grad, log_probs, targets, input_lengths, target_lengths, result0, result1, blank, zero_infinity
        );
}
