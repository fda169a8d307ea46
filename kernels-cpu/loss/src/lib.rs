//! CPU kernels of loss functions.
#![forbid(unsafe_code)]
#![allow(clippy::needless_for_each, reason = "a short step at the end of a chain")]

mod ctc;
mod likelihood;
mod margin;
mod pointwise;

use aten::Reduction;
use dispatch_runtime::{Result, Tensor};

use kernels_cpu_reduction::sums::sum_into;

/// Computes the mean or the sum of losses.
#[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
fn reduced(out: &mut Tensor, losses: &Tensor, reduction: Reduction) -> Result<()> {
    sum_into(out, losses, if reduction == Reduction::Mean { losses.geometry().count() as f64 } else { 1.0 })
}
