//! CPU kernels of loss functions.
#![forbid(unsafe_code)]
#![allow(clippy::needless_for_each, reason = "a short closure ends a chain of iterators")]

mod ctc;
mod likelihood;
mod margin;
mod pointwise;

use aten::Reduction;
use dispatch_runtime::{Result, Tensor};

use kernels_cpu_reduction::sums::sum_all_into;

/// Computes the mean or the sum of losses.
#[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
fn reduce_losses(out: &mut Tensor, losses: &Tensor, reduction: Reduction) -> Result<()> {
    sum_all_into(out, losses, if reduction == Reduction::Mean { losses.geometry().count() as f64 } else { 1.0 })
}
