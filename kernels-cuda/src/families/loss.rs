//! Losses: how far from a target, all in all.

mod ctc;
mod likelihood;
mod margin;
mod pointwise;

use aten::Reduction;

use crate::families::reduction::sums::sum_into;
use crate::prelude::*;

/// The mean or the sum of losses.
#[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
fn reduced(out: &Tensor, losses: &Tensor, reduction: Reduction) -> Result<()> {
    sum_into(out, losses, if reduction == Reduction::Mean { losses.geometry().count() as f64 } else { 1.0 })
}
