//! Gradient formula of the CTC loss.

use dispatch_runtime::prelude::*;

derivatives! {
    _ctc_loss(grad; result0: &Tensor, result1: &Tensor, _: ...), not_differentiable(targets, result1) =>
        aten::_ctc_loss_backward(
            grad, log_probs, targets, input_lengths, target_lengths, result0, result1, blank, zero_infinity
        );
}
