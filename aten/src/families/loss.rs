//! Loss functions, and their gradients.

mod contrastive;
mod ctc;
mod likelihood;
mod margin;
mod pointwise;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Promotion, Spec};

use crate::words::impl_words;
use crate::{mean, sum};

/// The public items of the family. They are in a module of their own, as a file may have the name of an operator.
pub(crate) mod operators {
    pub use super::{Reduction, contrastive::*, ctc::*, likelihood::*, margin::*, pointwise::*};
}

/// The reduction of the losses of all elements.
///
/// ```
/// assert_eq!("mean".parse(), Ok(aten::Reduction::Mean));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reduction {
    /// No reduction.
    None,
    /// The mean of the losses. This is the default.
    #[default]
    Mean,
    /// The sum of the losses.
    Sum,
}

impl_words! { Reduction, "reduction": None = "none", Mean = "mean", Sum = "sum", }

impl Reduction {
    /// Returns PyTorch's number.
    #[must_use]
    pub const fn code(self) -> i64 {
        match self {
            Self::None => 0,
            Self::Mean => 1,
            Self::Sum => 2,
        }
    }

    /// Converts PyTorch's number of a reduction: 0 for none, 1 for the mean, 2 for the sum.
    ///
    /// # Errors
    ///
    /// Returns an error if the number is not 0, 1 or 2.
    pub fn from_number(reduction: i64) -> Result<Self, BadArgument> {
        match reduction {
            0 => Ok(Self::None),
            1 => Ok(Self::Mean),
            2 => Ok(Self::Sum),
            other => Err(BadArgument::number("reduction", other, 0..=2).because("0 is none, 1 is mean and 2 is sum")),
        }
    }

    /// Reduces the losses of all elements to their mean or sum, or returns them unchanged.
    pub(crate) fn apply(self, losses: Tensor) -> Result<Tensor> {
        match self {
            Self::None => Ok(losses),
            Self::Mean => mean(&losses, None),
            Self::Sum => sum(&losses, None),
        }
    }

    /// Returns the gradient of the reduced loss for the loss of one element: `1 / count` for the mean, else 1.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
    pub fn gradient_scale(self, input: &Tensor) -> f64 {
        if self == Self::Mean { (input.geometry().count() as f64).recip() } else { 1.0 }
    }
}

/// Reduces the losses of all elements, as PyTorch's number `reduction` says.
fn reduce_losses(losses: Tensor, reduction: i64) -> Result<Tensor> {
    Reduction::from_number(reduction)?.apply(losses)
}

/// Returns the plan of a loss of two tensors.
fn loss_plan(this: &Tensor, target: &Tensor, reduction: i64) -> Result<Plan<Reduction>, BadArgument> {
    let reduction = Reduction::from_number(reduction)?;
    let spec_of_all = unreduced_loss_spec(this, target)?;
    let spec = if reduction == Reduction::None { spec_of_all } else { Spec::contiguous(spec_of_all.dtype, &[]) };
    Ok(Plan::new(reduction, [spec]))
}

/// Returns the spec of the losses of all elements, before a reduction.
fn unreduced_loss_spec(this: &Tensor, target: &Tensor) -> Result<Spec, BadArgument> {
    let dtype = Promotion::Common.result_dtype(&[this, target]);
    if !dtype.is_floating() {
        return Err(BadArgument::dtype("self", dtype, DTypes::Floating));
    }
    Spec::pointwise(&[this, target], dtype).map_err(|error| BadArgument::new("target", error.problem))
}
