//! CUDA kernels of losses.

mod ctc;
mod margin;
mod nll;
mod pointwise;

use aten::Reduction;

use crate::families::reduction::sums::sum_all_and_divide;
use crate::prelude::*;

/// Writes the mean or the sum of losses to `out`.
#[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
fn reduce_losses(out: &Tensor, losses: &Tensor, reduction: Reduction) -> Result<()> {
    sum_all_and_divide(out, losses, if reduction == Reduction::Mean { losses.geometry().count() as f64 } else { 1.0 })
}
