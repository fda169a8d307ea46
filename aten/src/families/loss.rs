//! Losses: how far from a target, all in all.

mod contrastive;
mod ctc;
mod likelihood;
mod margin;
mod pointwise;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Promotion, Spec};

use crate::{mean, sum};

/// What the family brings to the crate. A file may be named as an operator, so this is a module of its own.
pub(crate) mod operators {
    pub use super::{Reduction, contrastive::*, ctc::*, likelihood::*, margin::*, pointwise::*};
}

/// What becomes of the losses of all elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    /// They stay.
    None,
    /// Their mean.
    Mean,
    /// Their sum.
    Sum,
}

impl Reduction {
    /// What `reduction` says.
    ///
    /// # Errors
    ///
    /// Where it is none of 0, 1 and 2.
    pub fn of(reduction: i64) -> Result<Self, BadArgument> {
        match reduction {
            0 => Ok(Self::None),
            1 => Ok(Self::Mean),
            2 => Ok(Self::Sum),
            other => Err(BadArgument::number("reduction", other, 0..=2).because("0 is none, 1 is mean and 2 is sum")),
        }
    }

    /// What becomes of these losses.
    pub(crate) fn of_losses(self, losses: Tensor) -> Result<Tensor> {
        match self {
            Self::None => Ok(losses),
            Self::Mean => mean(&losses, None),
            Self::Sum => sum(&losses, None),
        }
    }

    /// What the gradient of each loss is multiplied by.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
    pub fn scale(self, input: &Tensor) -> f64 {
        if self == Self::Mean { (input.geometry().count() as f64).recip() } else { 1.0 }
    }
}

/// Applies a reduction to losses.
fn reduced(losses: Tensor, reduction: i64) -> Result<Tensor> {
    Reduction::of(reduction)?.of_losses(losses)
}

/// The plan of a loss of two tensors.
fn loss_plan(this: &Tensor, target: &Tensor, reduction: i64) -> Result<Plan<Reduction>, BadArgument> {
    let reduction = Reduction::of(reduction)?;
    let each = losses(this, target)?;
    let spec = if reduction == Reduction::None { each } else { Spec::contiguous(each.dtype, &[]) };
    Ok(Plan::new(reduction, [spec]))
}

/// The spec of the losses of all elements.
fn losses(this: &Tensor, target: &Tensor) -> Result<Spec, BadArgument> {
    let dtype = Promotion::Common.of(&[this, target]);
    if !dtype.is_floating() {
        return Err(BadArgument::dtype("self", dtype, DTypes::Floating));
    }
    Spec::pointwise(&[this, target], dtype).map_err(|error| BadArgument::new("target", error.problem))
}
