//! Losses for classification: negative log-likelihood and cross entropy.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Dims, Spec};

use super::{Reduction, reduce_losses};
use crate::{
    add, div, expand, log_softmax_int, masked_fill_scalar, mul, mul_scalar, neg, reshape, scalar_tensor, sum,
    sum_dim_intlist,
};

macro_rules! define_nll_losses {
    ($($kind:literal $forward:ident $forward_plan:ident $schema:literal $backward:ident $backward_plan:ident $backward_schema:literal $composite:ident $composite_schema:literal;)*) => {$(
        /// Computes the negative log-likelihood `-weight[target] * self[target]`, reduced, and the total weight of the targets.
        #[op_def($schema, plan, out = "output")]
        pub fn $forward(_: ...) -> Result<(Tensor, Tensor)>;

        #[op_plan($forward)]
        fn $forward_plan(_: ...) -> Result<Plan<NllLossPlan, 2>, BadArgument> {
            let (plan, sizes) = nll_loss_plan(this, target, weight, reduction, $kind)?;
            let spec = |sizes: &[i64]| Spec::contiguous(this.dtype(), sizes);
            Ok(Plan::new(plan, [spec(&sizes), spec(&[])]))
        }

        /// Computes the gradient of the negative log-likelihood: `-weight[target]` at the target class, zero elsewhere.
        #[op_def($backward_schema, plan, out = "grad_input"(grad_input))]
        pub fn $backward(_: ...) -> Result<Tensor>;

        #[op_plan($backward)]
        fn $backward_plan(_: ...) -> Result<Plan<NllLossPlan>, BadArgument> {
            let (plan, sizes) = nll_loss_plan(this, target, weight, reduction, $kind)?;
            let fits = match plan.reduction {
                Reduction::None => grad_output.sizes() == &sizes[..],
                _ => grad_output.geometry().count() == 1,
            };
            if !fits {
                return Err(BadArgument::sizes("grad_output", grad_output.sizes(), &sizes[..]));
            }
            if total_weight.geometry().count() != 1 {
                return Err(BadArgument::element_count("total_weight", total_weight.sizes(), 1));
            }
            Ok(Plan::new(plan, [Spec::contiguous(this.dtype(), this.sizes())]))
        }

        /// Computes the negative log-likelihood `-weight[target] * self[target]`, reduced.
        #[op_def($composite_schema, out = "out", check = $forward::plan(this, target, weight, reduction, ignore_index))]
        pub fn $composite(_: ...) -> Result<Tensor> {
            Ok($forward(this, target, weight, reduction, ignore_index)?.0)
        }
    )*};
}

define_nll_losses! {
    1 nll_loss_forward nll_loss_forward_plan
    "nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> (Tensor output, Tensor total_weight)"
    nll_loss_backward nll_loss_backward_plan
    "nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index, Tensor total_weight) -> Tensor"
    nll_loss
    "nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Tensor";
    2 nll_loss2d_forward nll_loss2d_forward_plan
    "nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> (Tensor output, Tensor total_weight)"
    nll_loss2d_backward nll_loss2d_backward_plan
    "nll_loss2d_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index, Tensor total_weight) -> Tensor"
    nll_loss2d
    "nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Tensor";
}

/// The plan of a negative log-likelihood.
#[derive(Clone, Debug)]
pub struct NllLossPlan {
    /// The dimension of the classes.
    pub dim: usize,
    /// The number of classes.
    pub classes: i64,
    /// The reduction of the losses. For a single row, `None` becomes `Sum`.
    pub reduction: Reduction,
}

/// Checks the arguments of a negative log-likelihood of rows, or of images if `kind` is 2. Returns its plan and the sizes of its result.
fn nll_loss_plan(
    this: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: i64,
    kind: usize,
) -> Result<(NllLossPlan, Dims), BadArgument> {
    let (sizes, rank) = (this.sizes(), this.sizes().len());
    let fits = if kind == 2 { rank == 4 } else { rank == 1 || rank == 2 };
    if !fits {
        return Err(BadArgument::rank("self", rank, if kind == 2 { 4..=4 } else { 1..=2 }));
    }
    if !this.dtype().is_floating() {
        return Err(BadArgument::dtype("self", this.dtype(), DTypes::Floating));
    }
    if !matches!(target.dtype(), DType::I64 | DType::U8) {
        return Err(BadArgument::dtype("target", target.dtype(), &[DType::I64, DType::U8]));
    }
    let dim = usize::from(rank > 1);
    let target_sizes: Dims = sizes.iter().enumerate().filter(|(at, _)| *at != dim).map(|(_, &size)| size).collect();
    if target.sizes() != &target_sizes[..] && !(rank == 1 && target.sizes() == [1]) {
        return Err(BadArgument::sizes("target", target.sizes(), &target_sizes[..])
            .because("`self` has without its class dimension"));
    }
    let classes = sizes[dim];
    if let Some(weight) = weight {
        if weight.sizes() != [classes] {
            return Err(BadArgument::sizes("weight", weight.sizes(), &[classes][..]).because("each class has one"));
        }
        if weight.dtype() != this.dtype() {
            return Err(BadArgument::dtype("weight", weight.dtype(), this.dtype()).like("self"));
        }
    }
    let reduction = match Reduction::from_number(reduction)? {
        Reduction::None if rank == 1 => Reduction::Sum,
        other => other,
    };
    let sizes = if reduction == Reduction::None { target_sizes } else { Dims::new() };
    Ok((NllLossPlan { dim, classes, reduction }, sizes))
}

/// Computes the negative log-likelihood with any number of dimensions besides the class dimension.
#[op_def(
    "nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Tensor",
    check = check_target_and_weight(this, target, weight, false)
)]
pub fn nll_loss_nd(_: ...) -> Result<Tensor> {
    let sizes = this.sizes();
    let (&[n, c, ref rest @ ..], false) = (sizes, sizes.len() == 4 || sizes.len() == 2) else {
        return match sizes.len() {
            0 => Err(BadArgument::rank("self", 0, 1..).into()),
            4 => nll_loss2d(this, target, weight, reduction, ignore_index),
            _ => nll_loss(this, target, weight, reduction, ignore_index),
        };
    };
    let target_sizes = [&[n], rest].concat();
    if target.sizes() != target_sizes {
        return Err(BadArgument::sizes("target", target.sizes(), &target_sizes[..]).into());
    }
    let inner = rest.iter().fold(1, |count: i64, &size| count.saturating_mul(size));
    let (this, target) = (reshape(this, &[n, c, 1, inner])?, reshape(target, &[n, 1, inner])?);
    let loss = nll_loss2d(&this, &target, weight, reduction, ignore_index)?;
    if Reduction::from_number(reduction)? == Reduction::None { reshape(&loss, &target_sizes) } else { Ok(loss) }
}

/// Checks that the target has one class for each row of `self`, and that `weight` has one element for each class. If
/// `allow_probabilities` is true, the target may have the sizes of `self` instead: it then holds probabilities.
fn check_target_and_weight(
    this: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    allow_probabilities: bool,
) -> Result<(), BadArgument> {
    let (sizes, dim) = (this.sizes(), usize::from(this.sizes().len() > 1));
    let Some(&classes) = sizes.get(dim) else { return Err(BadArgument::rank("self", 0, 1..)) };
    let mut row_sizes = Dims::from_slice(sizes);
    row_sizes.remove(dim);
    let has_probabilities = allow_probabilities && target.sizes() == sizes;
    if target.sizes() != &row_sizes[..] && !has_probabilities && !(dim == 0 && target.sizes() == [1]) {
        let expected = format!("{row_sizes:?}, as `self` has sizes {sizes:?}, with the classes in dimension {dim}");
        return Err(BadArgument::sizes("target", target.sizes(), expected));
    }
    if !has_probabilities && !matches!(target.dtype(), DType::I64 | DType::U8) {
        return Err(BadArgument::dtype("target", target.dtype(), "int64 or uint8, as it has a class for each row"));
    }
    match weight {
        Some(weight) if weight.sizes() != [classes] => {
            let expected = format!("[{classes}], one for each class in dimension {dim} of `self`, which has {sizes:?}");
            Err(BadArgument::sizes("weight", weight.sizes(), expected))
        }
        _ => crate::check_same_dtype([("self", Some(this)), ("weight", weight)]),
    }
}

/// Computes the cross entropy of `softmax(self)` and the target: a class for each row, or probabilities of the classes.
#[op_def(
    "cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100, float label_smoothing=0.) -> Tensor",
    check = check_target_and_weight(this, target, weight, true)
)]
pub fn cross_entropy_loss(_: ...) -> Result<Tensor> {
    if !(0.0..=1.0).contains(&label_smoothing) {
        return Err(BadArgument::number("label_smoothing", label_smoothing, 0..=1).into());
    }
    let dim = i64::from(this.sizes().len() > 1);
    let logs = log_softmax_int(this, dim, None)?;
    let classes = this.sizes().get(usize::from(dim == 1)).copied().unwrap_or(1);
    if this.sizes() == target.sizes() {
        return cross_entropy_of_probabilities(&logs, target, weight, (dim, classes), reduction, label_smoothing);
    }
    let unsmoothed = nll_loss_nd(&logs, target, weight, reduction, ignore_index)?;
    if label_smoothing == 0.0 {
        return Ok(unsmoothed);
    }
    let weighted = match weight {
        Some(weight) => mul(&logs, &broadcast_class_weights(weight, this.sizes().len(), dim)?)?,
        None => logs.clone(),
    };
    let smooth = neg(&sum_dim_intlist(&weighted, Some(&[dim]), false, None)?)?;
    let smooth = masked_fill_scalar(&smooth, &crate::eq_scalar(target, Scalar::Int(ignore_index))?, Scalar::Int(0))?;
    let smooth = if Reduction::from_number(reduction)? == Reduction::Mean {
        // If all log-probabilities are -1, the sum of the losses is the sum of the weights.
        let ones = scalar_tensor(Scalar::Int(-1), Some(logs.dtype()), None, Some(logs.device()), None)?;
        let ones = expand(&ones, logs.sizes(), false)?;
        div(&sum(&smooth, None)?, &nll_loss_nd(&ones, target, weight, 2, ignore_index)?)?
    } else {
        reduce_losses(smooth, reduction)?
    };
    let share = label_smoothing / count_to_f64(classes);
    add(&mul_scalar(&unsmoothed, Scalar::Float(1.0 - label_smoothing))?, &smooth, Scalar::Float(share))
}

#[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
fn count_to_f64(elements: i64) -> f64 {
    elements as f64
}

/// Reshapes the weights of the classes to broadcast along the class dimension of a tensor of this rank.
fn broadcast_class_weights(weight: &Tensor, rank: usize, dim: i64) -> Result<Tensor> {
    let mut sizes = Dims::from_elem(1, rank);
    if let Some(size) = sizes.get_mut(usize::from(dim == 1)) {
        *size = -1;
    }
    reshape(weight, &sizes)
}

/// Computes the cross entropy if the target holds probabilities.
fn cross_entropy_of_probabilities(
    logs: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    (dim, classes): (i64, i64),
    reduction: i64,
    label_smoothing: f64,
) -> Result<Tensor> {
    if !target.dtype().is_floating() {
        return Err(BadArgument::dtype("target", target.dtype(), DTypes::Floating)
            .because("it has probabilities")
            .into());
    }
    let mut product = if label_smoothing > 0.0 {
        let kept = mul_scalar(target, Scalar::Float(1.0 - label_smoothing))?;
        mul(logs, &crate::add_scalar(&kept, Scalar::Float(label_smoothing / count_to_f64(classes)), Scalar::Int(1))?)?
    } else {
        mul(logs, target)?
    };
    if let Some(weight) = weight {
        product = mul(&product, &broadcast_class_weights(weight, logs.sizes().len(), dim)?)?;
    }
    match Reduction::from_number(reduction)? {
        Reduction::None => neg(&sum_dim_intlist(&product, Some(&[dim]), false, None)?),
        Reduction::Sum => neg(&sum(&product, None)?),
        Reduction::Mean => {
            let row_count = count_to_f64(logs.geometry().count()) / count_to_f64(classes);
            crate::div_scalar(&neg(&sum(&product, None)?)?, Scalar::Float(row_count))
        }
    }
}
