//! Losses: how far from a target, all in all.

mod likelihood;
mod margin;
mod pointwise;

use aten::Reduction;
use dispatch_runtime::{Result, Tensor};

use crate::reduction::sums::sum_into;

/// What becomes of losses.
#[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
fn reduced(losses: Tensor, reduction: i64) -> Result<Tensor> {
    let reduction = Reduction::of(reduction)?;
    if reduction == Reduction::None {
        return Ok(losses);
    }
    let mut out = dispatch_runtime::Spec::contiguous(losses.dtype(), &[]).on(losses.device())?;
    sum_into(&mut out, &losses, if reduction == Reduction::Mean { losses.geometry().count() as f64 } else { 1.0 })?;
    Ok(out)
}
