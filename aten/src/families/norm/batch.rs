//! Batch normalisation: of each channel, over the batch and the elements of the images.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Spec};

use super::{check_channel_parameters, check_floating, check_sizes_and_floating_dtype, gradient_specs};
use crate::image_spec_like;

/// Normalises each channel by the batch's statistics in training, else by the running statistics.
///
/// Also returns the mean and the reciprocal of the standard deviation, which are empty without training.
#[op_def(
    "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
    plan, out = "out"(out, save_mean, save_invstd)
)]
pub fn native_batch_norm(_: ...) -> Result<(Tensor, Tensor, Tensor)>;

/// Computes `native_batch_norm`. The schema declares that the running statistics are written.
#[op_def(
    "_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
    body = CompositeExplicitAutograd,
    check = check_batch_norm(input, [weight, bias, Some(running_mean), Some(running_var)], training)
)]
pub fn _native_batch_norm_legit(_: ...) -> Result<(Tensor, Tensor, Tensor)> {
    native_batch_norm(input, weight, bias, Some(running_mean), Some(running_var), training, momentum, eps)
}

/// Computes `native_batch_norm` in training, without running statistics.
#[op_def(
    "_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
    out = "no_stats_out"(out, save_mean, save_invstd), body = CompositeExplicitAutograd,
    check = check_batch_norm(input, [weight, bias, None, None], true)
)]
pub fn _native_batch_norm_legit_no_stats(_: ...) -> Result<(Tensor, Tensor, Tensor)> {
    native_batch_norm(input, weight, bias, None, None, true, momentum, eps)
}

/// Normalises each channel by the batch's statistics, and updates the running statistics.
///
/// The last result is an empty buffer, reserved for backends.
#[op_def(
    "_batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)",
    body = CompositeExplicitAutograd,
    check = check_batch_norm(input, [weight, bias, Some(running_mean), Some(running_var)], true)
)]
pub fn _batch_norm_with_update(_: ...) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
    let running = (Some(&*running_mean), Some(&*running_var));
    let (out, mean, rstd) = native_batch_norm(input, weight, bias, running.0, running.1, true, momentum, eps)?;
    Ok((out, mean, rstd, Spec::contiguous(DType::U8, &[0]).on(input.device())?))
}

/// Normalises each channel by the running statistics.
#[op_def(
    "_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
    out = "out",
    check = check_batch_norm(input, [weight, bias, Some(running_mean), Some(running_var)], false)
)]
pub fn _native_batch_norm_legit_no_training(_: ...) -> Result<(Tensor, Tensor, Tensor)> {
    native_batch_norm(input, weight, bias, Some(running_mean), Some(running_var), false, momentum, eps)
}

/// Normalises each channel by the batch's statistics in training, else by the running statistics.
#[op_def(
    "batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor",
    check = check_batch_norm(input, [weight, bias, running_mean, running_var], training)
)]
pub fn batch_norm(_: ...) -> Result<Tensor> {
    Ok(native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)?.0)
}

/// Computes the gradients of `native_batch_norm`. A gradient that `output_mask` does not request has no elements.
#[op_def(
    "native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    plan,
    out = "out"
)]
pub fn native_batch_norm_backward(_: ...) -> Result<(Tensor, Tensor, Tensor)>;

#[op_plan(native_batch_norm)]
fn native_batch_norm_plan(_: ...) -> Result<Plan<(), 3>, BadArgument> {
    shared_batch_norm_plan(input, [weight, bias, running_mean, running_var], training)
}

#[op_plan(native_batch_norm_backward)]
fn native_batch_norm_backward_plan(_: ...) -> Result<Plan<(), 3>, BadArgument> {
    shared_batch_norm_plan(input, [weight, None, None, None], true)?;
    let channels = input.sizes()[1];
    let statistics = if train {
        [("save_mean", save_mean), ("save_invstd", save_invstd)]
    } else {
        [("running_mean", running_mean), ("running_var", running_var)]
    };
    for (name, tensor) in statistics {
        let Some(tensor) = tensor else { return Err(BadArgument::value(name, "left out", "given")) };
        check_sizes_and_floating_dtype(name, Some(tensor), &[channels])?;
    }
    Ok(Plan::new((), gradient_specs(grad_out, input, &[channels], weight, output_mask)?))
}

/// Checks the arguments of [`native_batch_norm`]. The errors name the sizes of the input.
pub(super) fn check_batch_norm(input: &Tensor, all: [Option<&Tensor>; 4], training: bool) -> Result<(), BadArgument> {
    let [weight, bias, running_mean, running_var] = all;
    check_channel_parameters(
        input,
        [("weight", weight), ("bias", bias), ("running_mean", running_mean), ("running_var", running_var)],
    )?;
    shared_batch_norm_plan(input, all, training).map(drop)
}

/// Plans a batch normalisation. `all` is weight, bias, running mean and running variance. Without training, the returned statistics are
/// empty.
fn shared_batch_norm_plan(
    input: &Tensor,
    all: [Option<&Tensor>; 4],
    training: bool,
) -> Result<Plan<(), 3>, BadArgument> {
    check_floating(input)?;
    let Some(&channels) = input.sizes().get(1) else {
        return Err(BadArgument::rank("input", input.sizes().len(), 2..));
    };
    for (name, tensor) in ["weight", "bias", "running_mean", "running_var"].into_iter().zip(all) {
        check_sizes_and_floating_dtype(name, tensor, &[channels])?;
        if tensor.is_none() && !training && name.starts_with("running") {
            return Err(BadArgument::value(name, "left out", "given, except in training"));
        }
    }
    let dtype = all.into_iter().flatten().next().map_or_else(|| input.dtype(), Tensor::dtype);
    let stats = Spec::contiguous(dtype, &[if training { channels } else { 0 }]);
    Ok(Plan::new((), [image_spec_like(input, input.sizes()), stats.clone(), stats]))
}
