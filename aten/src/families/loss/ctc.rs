//! Connectionist temporal classification (CTC): the loss of label sequences that are not aligned with the input.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, ErrorKind, Spec};

use super::Reduction;
use crate::{clamp_min, div, eq_scalar, masked_fill_scalar, mean, squeeze_dim, sum, sum_i128, to_device, unsqueeze};

/// Computes the negative log-likelihood of each label sequence, and `log_alpha`: the log-likelihoods of its prefixes at each step.
#[op_def(
    "_ctc_loss(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, bool zero_infinity=False) -> (Tensor, Tensor)",
    plan,
    out = "out"
)]
pub fn _ctc_loss(_: ...) -> Result<(Tensor, Tensor)>;

#[op_plan(_ctc_loss)]
fn _ctc_loss_plan(_: ...) -> Result<Plan<CtcLossPlan, 2>, BadArgument> {
    let plan = CtcLossPlan::new(log_probs, targets, input_lengths, target_lengths, blank)?;
    let outputs = plan.output_specs(log_probs);
    Ok(Plan::new(plan, outputs))
}

/// Computes [`_ctc_loss`] with lengths from tensors.
#[op_def(
    "_ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, bool zero_infinity=False) -> (Tensor, Tensor)",
    out = "Tensor_out"
)]
pub fn _ctc_loss_tensor(_: ...) -> Result<(Tensor, Tensor)> {
    let (inputs, labels) = (
        read_lengths("input_lengths", input_lengths, _ctc_loss_tensor::operator())?,
        read_lengths("target_lengths", target_lengths, _ctc_loss_tensor::operator())?,
    );
    _ctc_loss(log_probs, targets, &inputs, &labels, blank, zero_infinity)
}

/// Computes the gradient of [`_ctc_loss`] for the input of `log_softmax`; PyTorch returns it as the gradient of `log_probs`.
#[op_def(
    "_ctc_loss_backward(Tensor grad, Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, Tensor neg_log_likelihood, Tensor log_alpha, int blank, bool zero_infinity=False) -> Tensor",
    plan,
    out = "out"
)]
pub fn _ctc_loss_backward(_: ...) -> Result<Tensor>;

#[op_plan(_ctc_loss_backward)]
fn _ctc_loss_backward_plan(_: ...) -> Result<Plan<CtcLossPlan>, BadArgument> {
    let plan = CtcLossPlan::new(log_probs, targets, input_lengths, target_lengths, blank)?;
    let [losses, alphas] = plan.output_specs(log_probs);
    let results = [
        ("grad", grad, &losses),
        ("neg_log_likelihood", neg_log_likelihood, &losses),
        ("log_alpha", log_alpha, &alphas),
    ];
    for (name, tensor, spec) in results {
        if tensor.sizes() != spec.geometry.sizes() {
            return Err(BadArgument::sizes(name, tensor.sizes(), spec.geometry.sizes()));
        }
    }
    Ok(Plan::new(plan, [Spec::contiguous(log_probs.dtype(), log_probs.sizes())]))
}

/// Computes [`_ctc_loss_backward`] with lengths from tensors.
#[op_def(
    "_ctc_loss_backward.Tensor(Tensor grad, Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, Tensor neg_log_likelihood, Tensor log_alpha, int blank, bool zero_infinity=False) -> Tensor"
)]
pub fn _ctc_loss_backward_tensor(_: ...) -> Result<Tensor> {
    let (inputs, labels) = (
        read_lengths("input_lengths", input_lengths, _ctc_loss_backward_tensor::operator())?,
        read_lengths("target_lengths", target_lengths, _ctc_loss_backward_tensor::operator())?,
    );
    _ctc_loss_backward(grad, log_probs, targets, &inputs, &labels, neg_log_likelihood, log_alpha, blank, zero_infinity)
}

/// Computes the CTC loss: the negative log-likelihood of label sequences. A mean divides each loss by its number of labels first.
#[op_def(
    "ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, int reduction=1, bool zero_infinity=False) -> Tensor",
    check = check_ctc_loss_batch(log_probs, targets, input_lengths, target_lengths, blank)
)]
pub fn ctc_loss_intlist(_: ...) -> Result<Tensor> {
    let reduction = Reduction::from_number(reduction)?;
    let single = log_probs.sizes().len() == 2;
    let losses = if single {
        let (probs, targets) = (unsqueeze(log_probs, 1)?, unsqueeze(targets, 0)?);
        _ctc_loss(&probs, &targets, input_lengths, target_lengths, blank, zero_infinity)?.0
    } else {
        _ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity)?.0
    };
    let losses = if zero_infinity {
        masked_fill_scalar(&losses, &eq_scalar(&losses, f64::INFINITY.into())?, 0.into())?
    } else {
        losses
    };
    match reduction {
        Reduction::None if single => squeeze_dim(&losses, 0),
        Reduction::None => Ok(losses),
        Reduction::Sum => sum(&losses, None),
        Reduction::Mean => {
            let labels =
                to_device(&Tensor::from_slice(target_lengths), losses.device(), losses.dtype(), false, false, None)?;
            mean(&div(&losses, &clamp_min(&labels, 1.into())?)?, None)
        }
    }
}

/// Checks a batch as [`_ctc_loss`] does. A single sequence without a batch dimension is not checked.
fn check_ctc_loss_batch(
    log_probs: &Tensor,
    targets: &Tensor,
    input_lengths: &[i64],
    target_lengths: &[i64],
    blank: i64,
) -> Result<(), BadArgument> {
    if log_probs.sizes().len() == 2 {
        return Ok(());
    }
    CtcLossPlan::new(log_probs, targets, input_lengths, target_lengths, blank).map(drop)
}

/// Computes [`ctc_loss_intlist`] with lengths from tensors.
#[op_def(
    "ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, int reduction=1, bool zero_infinity=False) -> Tensor"
)]
pub fn ctc_loss(_: ...) -> Result<Tensor> {
    let (inputs, labels) = (
        read_lengths("input_lengths", input_lengths, ctc_loss::operator())?,
        read_lengths("target_lengths", target_lengths, ctc_loss::operator())?,
    );
    ctc_loss_intlist(log_probs, targets, &inputs, &labels, blank, reduction, zero_infinity)
}

/// Copies lengths from a tensor of integers.
fn read_lengths(argument: &'static str, tensor: &Tensor, operator: &'static Operator) -> Result<Vec<i64>> {
    if !tensor.dtype().is_integral() {
        return Err(BadArgument::dtype(argument, tensor.dtype(), DTypes::Integral).into());
    }
    if tensor.device() == Device::META {
        return Err(ErrorKind::DataDependent { operator: operator.name() }.into());
    }
    to_device(tensor, Device::CPU, DType::I64, false, false, None)?.to_vec::<i64>()
}

/// The label sequences of a batch, and the number of input steps of each.
#[derive(Clone, Debug)]
pub struct CtcLossPlan {
    /// The number of valid input steps of each sequence.
    pub steps: Vec<usize>,
    /// For each sequence, the offset of its first label among the targets, and the number of its labels.
    pub labels: Vec<(usize, usize)>,
    /// The number of labels of the longest sequence.
    pub longest: usize,
}

impl CtcLossPlan {
    fn new(
        log_probs: &Tensor,
        targets: &Tensor,
        input_lengths: &[i64],
        target_lengths: &[i64],
        blank: i64,
    ) -> Result<Self, BadArgument> {
        let &[steps, batch, classes] = log_probs.sizes() else {
            return Err(BadArgument::rank("log_probs", log_probs.sizes().len(), 3));
        };
        if !log_probs.dtype().is_floating() {
            return Err(BadArgument::dtype("log_probs", log_probs.dtype(), DTypes::Floating));
        }
        if !matches!(targets.dtype(), DType::I64 | DType::I32) {
            return Err(BadArgument::dtype("targets", targets.dtype(), &[DType::I32, DType::I64]));
        }
        if !(0..classes).contains(&blank) {
            return Err(BadArgument::number("blank", blank, 0..=classes - 1).because("`blank` is the index of a class"));
        }
        let of = |argument: &'static str, list: &[i64], max: i64| -> Result<Vec<usize>, BadArgument> {
            let fits = i64::try_from(list.len()) == Ok(batch) && list.iter().all(|length| (0..=max).contains(length));
            if !fits {
                let expected = format!("{batch} lengths from 0 to {max}");
                return Err(BadArgument::value(argument, format!("{list:?}"), expected));
            }
            Ok(list.iter().map(|&length| usize::try_from(length).unwrap_or(0)).collect())
        };
        let steps = of("input_lengths", input_lengths, steps)?;
        let (width, counts) = match targets.sizes() {
            &[own, width] if own == batch => (width, of("target_lengths", target_lengths, width)?),
            &[all] if sum_i128(target_lengths) == i128::from(all) => (0, of("target_lengths", target_lengths, all)?),
            sizes => {
                let expected = format!(
                    "[{batch}, _], or one dimension with all labels, whose number is the sum of `target_lengths`"
                );
                return Err(BadArgument::sizes("targets", sizes, expected));
            }
        };
        let mut next = 0;
        let width = usize::try_from(width).unwrap_or(0);
        let labels = counts.iter().enumerate().map(|(at, &count)| {
            let first = if targets.sizes().len() == 2 { at * width } else { next };
            next += count;
            (first, count)
        });
        Ok(Self { steps, labels: labels.collect(), longest: counts.iter().copied().max().unwrap_or(0) })
    }

    /// Returns the specs of the losses and of `log_alpha`.
    fn output_specs(&self, log_probs: &Tensor) -> [Spec; 2] {
        let (batch, states) = (log_probs.sizes()[1], i64::try_from(2 * self.longest + 1).unwrap_or(i64::MAX));
        let spec = |sizes: &[i64]| Spec::contiguous(log_probs.dtype(), sizes);
        [spec(&[batch]), spec(&[batch, log_probs.sizes()[0], states])]
    }
}
