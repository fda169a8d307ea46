//! Margin losses for classification.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Dims, Spec};

use super::Reduction;

/// Computes the mean over classes of `max(0, margin - self[target] + self[class])^p * weight[target]`.
#[op_def(
    "multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int reduction=1) -> Tensor",
    plan,
    out = "out"
)]
pub fn multi_margin_loss(_: ...) -> Result<Tensor>;

#[op_plan(multi_margin_loss)]
fn multi_margin_loss_plan(_: ...) -> Result<Plan<MarginLossPlan>, BadArgument> {
    let (margins, sizes) = MarginLossPlan::for_single_label(this, target, [p, margin], weight, reduction)?;
    Ok(Plan::new(margins, [Spec::contiguous(this.dtype(), &sizes)]))
}

/// Computes the gradient of [`multi_margin_loss`].
#[op_def(
    "multi_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, Scalar p, Scalar margin, Tensor? weight=None, int reduction=1) -> Tensor",
    plan,
    out = "grad_input"(grad_input)
)]
pub fn multi_margin_loss_backward(_: ...) -> Result<Tensor>;

#[op_plan(multi_margin_loss_backward)]
fn multi_margin_loss_backward_plan(_: ...) -> Result<Plan<MarginLossPlan>, BadArgument> {
    let (margins, sizes) = MarginLossPlan::for_single_label(this, target, [p, margin], weight, reduction)?;
    check_loss_gradient(grad_output, &sizes)?;
    Ok(Plan::new(margins, [Spec::contiguous(this.dtype(), this.sizes())]))
}

/// Computes `max(0, 1 - self[true] + self[false])`, averaged over classes and summed over true classes.
///
/// The true classes of a row are the targets before the first -1.
#[op_def(
    "multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    out = "out",
    check = multilabel_margin_loss_forward::plan(this, target, reduction)
)]
pub fn multilabel_margin_loss(this: &Tensor, target: &Tensor, reduction: i64) -> Result<Tensor> {
    Ok(multilabel_margin_loss_forward(this, target, reduction)?.0)
}

/// Computes [`multilabel_margin_loss`], and a mask of the true classes.
#[op_def(
    "multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction) -> (Tensor output, Tensor is_target)",
    plan,
    out = "output"
)]
pub fn multilabel_margin_loss_forward(_: ...) -> Result<(Tensor, Tensor)>;

#[op_plan(multilabel_margin_loss_forward)]
fn multilabel_margin_loss_forward_plan(_: ...) -> Result<Plan<MarginLossPlan, 2>, BadArgument> {
    let (margins, sizes) = MarginLossPlan::for_multi_label(this, target, reduction)?;
    Ok(Plan::new(margins, [&sizes, target.sizes()].map(|sizes| Spec::contiguous(this.dtype(), sizes))))
}

/// Computes the gradient of [`multilabel_margin_loss`].
#[op_def(
    "multilabel_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, Tensor is_target) -> Tensor",
    plan,
    out = "grad_input"(grad_input)
)]
pub fn multilabel_margin_loss_backward(_: ...) -> Result<Tensor>;

#[op_plan(multilabel_margin_loss_backward)]
fn multilabel_margin_loss_backward_plan(_: ...) -> Result<Plan<MarginLossPlan>, BadArgument> {
    let (margins, sizes) = MarginLossPlan::for_multi_label(this, target, reduction)?;
    check_loss_gradient(grad_output, &sizes)?;
    check_same_sizes("is_target", is_target, target)?;
    Ok(Plan::new(margins, [Spec::contiguous(this.dtype(), this.sizes())]))
}

/// The plan of a margin loss.
#[derive(Clone, Debug)]
pub struct MarginLossPlan {
    /// The number of rows. Each row has one loss.
    pub rows: usize,
    /// The number of classes.
    pub classes: usize,
    /// The reduction of the losses.
    pub reduction: Reduction,
}

impl MarginLossPlan {
    fn new(this: &Tensor, reduction: i64, single: bool) -> Result<(Self, Dims), BadArgument> {
        let (rows, classes) = match this.sizes() {
            [] => (1, 1),
            &[classes] => (1, classes),
            &[rows, classes] => (rows, classes),
            more => return Err(BadArgument::rank("self", more.len(), ..=2)),
        };
        if !this.dtype().is_floating() {
            return Err(BadArgument::dtype("self", this.dtype(), DTypes::Floating));
        }
        if classes == 0 {
            return Err(BadArgument::size("self", this.sizes(), this.sizes().len() - 1, 1..)
                .because("the last dimension has the classes"));
        }
        let reduction = Reduction::from_number(reduction)?;
        let each = reduction == Reduction::None && !single;
        let sizes = if each { Dims::from_slice(&[rows]) } else { Dims::new() };
        let count = |size: i64| usize::try_from(size).unwrap_or(0);
        Ok((Self { rows: count(rows), classes: count(classes), reduction }, sizes))
    }

    /// Checks the arguments of a margin loss with one true class per row. Returns its plan and the sizes of its result.
    fn for_single_label(
        this: &Tensor,
        target: &Tensor,
        [p, margin]: [Scalar; 2],
        weight: Option<&Tensor>,
        reduction: i64,
    ) -> Result<(Self, Dims), BadArgument> {
        let (margins, sizes) = Self::new(this, reduction, target.sizes().is_empty())?;
        if !matches!(p.to_f64(), Some(1.0 | 2.0)) {
            return Err(BadArgument::number("p", p, 1..=2));
        }
        crate::check_scalars_fit_compute_dtype(this.dtype(), [("margin", margin)])?;
        check_target_dtype(target)?;
        if target.sizes().len() > 1 || usize::try_from(target.geometry().count()) != Ok(margins.rows) {
            return Err(BadArgument::sizes("target", target.sizes(), &[i64::try_from(margins.rows).unwrap_or(0)][..])
                .because("each row has a class"));
        }
        if let Some(weight) = weight {
            if usize::try_from(weight.geometry().count()) != Ok(margins.classes) || weight.sizes().len() > 1 {
                return Err(BadArgument::sizes(
                    "weight",
                    weight.sizes(),
                    &[i64::try_from(margins.classes).unwrap_or(0)][..],
                )
                .because("each class has one"));
            }
            if weight.dtype() != this.dtype() {
                return Err(BadArgument::dtype("weight", weight.dtype(), this.dtype()).like("self"));
            }
        }
        Ok((margins, sizes))
    }

    /// Checks the arguments of a margin loss with several true classes per row. Returns its plan and the sizes of its result.
    fn for_multi_label(this: &Tensor, target: &Tensor, reduction: i64) -> Result<(Self, Dims), BadArgument> {
        let margins = Self::new(this, reduction, this.sizes().len() < 2)?;
        check_target_dtype(target)?;
        check_same_sizes("target", target, this)?;
        Ok(margins)
    }
}

/// Refuses a gradient that does not have the sizes of the result.
fn check_loss_gradient(grad_output: &Tensor, sizes: &[i64]) -> Result<(), BadArgument> {
    if grad_output.sizes() == sizes || (sizes.is_empty() && grad_output.geometry().count() == 1) {
        return Ok(());
    }
    Err(BadArgument::sizes("grad_output", grad_output.sizes(), sizes).because("the result has"))
}

fn check_target_dtype(target: &Tensor) -> Result<(), BadArgument> {
    if target.dtype() == DType::I64 {
        return Ok(());
    }
    Err(BadArgument::dtype("target", target.dtype(), DType::I64))
}

/// Checks that a tensor has the sizes of `other`: one element for each class.
fn check_same_sizes(argument: &'static str, tensor: &Tensor, other: &Tensor) -> Result<(), BadArgument> {
    if tensor.sizes() == other.sizes() {
        return Ok(());
    }
    Err(BadArgument::sizes(argument, tensor.sizes(), other.sizes()).because("each class has one"))
}
