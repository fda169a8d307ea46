//! Losses: how far from a target, all in all.

mod likelihood;
mod margin;
mod pointwise;

use aten::Reduction;
use dispatch_runtime::{Result, Tensor};

/// What becomes of losses.
fn reduced(losses: Tensor, reduction: Reduction) -> Result<Tensor> {
    match reduction {
        Reduction::None => Ok(losses),
        Reduction::Mean => aten::mean(&losses, None),
        Reduction::Sum => aten::sum(&losses, None),
    }
}
