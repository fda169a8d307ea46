//! Losses: how far from a target, all in all.

mod likelihood;
mod margin;
mod pointwise;

use aten::Reduction;
use dispatch_runtime::{Result, Tensor};

use crate::reduction::sums::{reduced_count, summed};

/// What becomes of losses.
fn reduced(losses: Tensor, reduction: i64) -> Result<Tensor> {
    let all = vec![true; losses.sizes().len()];
    match Reduction::of(reduction)? {
        Reduction::None => Ok(losses),
        Reduction::Mean => summed(&losses, &all, false, losses.dtype(), reduced_count(&losses, &all)),
        Reduction::Sum => summed(&losses, &all, false, losses.dtype(), 1.0),
    }
}
