//! What the steps of all optimisers have in common: the checks of their lists, and the gradient that a step uses.

use std::borrow::Cow;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes};

use crate::prelude::*;
use crate::{accumulate_dtype, add, copy_, div_, item, neg};

/// Checks the lists of a step: each parameter has floating-point elements, and each other list has a tensor like each parameter.
pub(super) fn check_step_lists(params: &[Tensor], lists: &[(&'static str, &[Tensor])]) -> Result<(), BadArgument> {
    for (i, param) in params.iter().enumerate() {
        if !param.dtype().is_floating() || param.dtype().size() < 2 {
            return Err(BadArgument::dtype(format!("self[{i}]"), param.dtype(), DTypes::Floating));
        }
    }
    for (name, list) in lists {
        if list.len() != params.len() {
            return Err(BadArgument::length(*name, list.len(), params.len()).because("`self` has this length"));
        }
        for (i, (tensor, param)) in list.iter().zip(params).enumerate() {
            let argument = || format!("{name}[{i}]");
            if tensor.dtype() != param.dtype() {
                return Err(BadArgument::dtype(argument(), tensor.dtype(), DTypes::Is(param.dtype()))
                    .because("its parameter has this dtype"));
            }
            if tensor.sizes() != param.sizes() {
                return Err(BadArgument::sizes(argument(), tensor.sizes(), param.sizes()).because("its parameter has"));
            }
        }
    }
    Ok(())
}

/// Checks that the scale of the loss and the flag of infinite gradients are single numbers.
pub(super) fn check_loss_scale(grad_scale: Option<&Tensor>, found_inf: Option<&Tensor>) -> Result<(), BadArgument> {
    let tensors = [("grad_scale", grad_scale), ("found_inf", found_inf)];
    tensors
        .into_iter()
        .filter_map(|(name, tensor)| Some((name, tensor?)))
        .try_for_each(|(name, tensor)| check_number(name, tensor))
}

/// Checks that there is a counter of steps, a single number, for each parameter.
pub(super) fn check_step_counters(params: &[Tensor], counters: &[Tensor]) -> Result<(), BadArgument> {
    if counters.len() != params.len() {
        return Err(BadArgument::length("state_steps", counters.len(), params.len()).because("`self` has this length"));
    }
    counters.iter().enumerate().try_for_each(|(i, counter)| check_number(format!("state_steps[{i}]"), counter))
}

fn check_number(argument: impl Into<Cow<'static, str>>, tensor: &Tensor) -> Result<(), BadArgument> {
    if tensor.geometry().count() != 1 {
        return Err(BadArgument::element_count(argument, tensor.sizes(), 1));
    }
    if tensor.dtype().is_complex() {
        return Err(BadArgument::dtype(argument, tensor.dtype(), DTypes::Real));
    }
    Ok(())
}

/// Checks that a list that a step does not need is empty.
pub(super) fn check_absent_list(name: &'static str, list: &[Tensor], because: &'static str) -> Result<(), BadArgument> {
    if list.is_empty() { Ok(()) } else { Err(BadArgument::length(name, list.len(), 0).because(because)) }
}

/// Returns whether the gradients are not finite, so that the step changes nothing.
#[expect(clippy::float_cmp, reason = "the flag is exactly one")]
pub(super) fn skips_step(found_inf: Option<&Tensor>) -> Result<bool> {
    Ok(match found_inf {
        Some(found_inf) => number_of("found_inf", found_inf)? == 1.0,
        None => false,
    })
}

/// Returns the number in a tensor of a single real element.
pub(super) fn number_of(argument: &'static str, tensor: &Tensor) -> Result<f64> {
    check_number(argument, tensor)?;
    item(tensor)?.to_f64().ok_or_else(|| BadArgument::dtype(argument, tensor.dtype(), DTypes::Real).into())
}

/// Returns the learning rate in a tensor. On Meta, a step has no numbers, and this one does not matter.
pub(super) fn learning_rate(lr: &Tensor) -> Result<f64> {
    if lr.device() == Device::META && lr.geometry().count() == 1 { Ok(0.0) } else { number_of("lr", lr) }
}

/// Calls `step` with the tensors. Half-precision ones are copies in single precision, which are written back.
pub(super) fn in_full_precision(
    tensors: &mut [&mut Tensor],
    step: impl FnOnce(&mut [Tensor]) -> Result<()>,
) -> Result<()> {
    let widen = |tensor: &&mut Tensor| tensor.to(accumulate_dtype(tensor.dtype()));
    let mut wide = tensors.iter().map(widen).collect::<Result<Vec<_>>>()?;
    step(&mut wide)?;
    let mut narrow = tensors.iter_mut().zip(&wide).filter(|(tensor, wide)| tensor.dtype() != wide.dtype());
    narrow.try_for_each(|(tensor, wide)| copy_(tensor, wide, false))
}

/// Divides a gradient by the scale of the loss, in place, and returns what the step uses, in the precision of `param`: the gradient,
/// negated to maximise, with the penalty `weight_decay * param`.
pub(super) fn prepare_gradient(
    grad: &mut Tensor,
    scale: Option<&Tensor>,
    maximize: bool,
    (weight_decay, param): (f64, &Tensor),
) -> Result<Tensor> {
    if let Some(scale) = scale {
        div_(grad, scale)?;
    }
    let grad = grad.to(param.dtype())?;
    let signed = if maximize { neg(&grad)? } else { grad };
    if weight_decay == 0.0 { Ok(signed) } else { add(&signed, param, weight_decay.into()) }
}

/// Returns copies of the tensors of a list.
pub(super) fn clone_list(list: &[Tensor]) -> Result<Vec<Tensor>> {
    list.iter().map(|tensor| crate::clone(tensor, None)).collect()
}

/// Writes the parameters after a step to the tensors of the caller.
pub(super) fn write_params(out: &mut [Tensor], params: &[Tensor]) -> Result<()> {
    check_step_lists(params, &[("out", out)])?;
    out.iter_mut().zip(params).try_for_each(|(out, param)| copy_(out, param, false))
}
