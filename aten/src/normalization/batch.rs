//! Normalisation of channels, over all pictures.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Spec};

use super::{Three, check_floating, check_sizes, gradient_specs, on_meta};
use crate::images_like;

/// Normalises each channel, by its own statistics or by those of before. Gives the mean and the reciprocal of the standard deviation too.
#[op_def(
    "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
    out = "out"(out, save_mean, save_invstd)
)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
pub fn native_batch_norm(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    running_mean: Option<&Tensor>,
    running_var: Option<&Tensor>,
    training: bool,
    momentum: f64,
    eps: f64,
) -> Result<(Tensor, Tensor, Tensor)>;

/// The same, in a schema that says that the running statistics are written.
#[op_def(
    "_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)"
)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
pub fn _native_batch_norm_legit(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    running_mean: &mut Tensor,
    running_var: &mut Tensor,
    training: bool,
    momentum: f64,
    eps: f64,
) -> Result<(Tensor, Tensor, Tensor)>;

/// The same without running statistics.
#[op_def(
    "_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
    out = "no_stats_out"(out, save_mean, save_invstd)
)]
pub fn _native_batch_norm_legit_no_stats(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    training: bool,
    momentum: f64,
    eps: f64,
) -> Result<(Tensor, Tensor, Tensor)>;

/// Normalises each channel by its own statistics, which go into the running ones. The last result is room for a backend's notes.
#[op_def(
    "_batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)"
)]
pub fn _batch_norm_with_update(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    running_mean: &mut Tensor,
    running_var: &mut Tensor,
    momentum: f64,
    eps: f64,
) -> Result<(Tensor, Tensor, Tensor, Tensor)>;

/// Normalises each channel by statistics of before.
#[op_def(
    "_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
    out = "out"
)]
pub fn _native_batch_norm_legit_no_training(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    running_mean: &Tensor,
    running_var: &Tensor,
    momentum: f64,
    eps: f64,
) -> Result<(Tensor, Tensor, Tensor)> {
    native_batch_norm(input, weight, bias, Some(running_mean), Some(running_var), false, momentum, eps)
}

/// Normalises each channel.
#[op_def(
    "batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor"
)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
pub fn batch_norm(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    running_mean: Option<&Tensor>,
    running_var: Option<&Tensor>,
    training: bool,
    momentum: f64,
    eps: f64,
    _cudnn_enabled: bool,
) -> Result<Tensor> {
    Ok(native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)?.0)
}

/// The gradients of `native_batch_norm`; one that is not wanted has no elements.
#[op_def(
    "native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    out = "out"
)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
pub fn native_batch_norm_backward(
    grad_out: &Tensor,
    input: &Tensor,
    weight: Option<&Tensor>,
    running_mean: Option<&Tensor>,
    running_var: Option<&Tensor>,
    save_mean: Option<&Tensor>,
    save_invstd: Option<&Tensor>,
    train: bool,
    eps: f64,
    output_mask: &[bool],
) -> Result<(Tensor, Tensor, Tensor)>;

#[op_meta(native_batch_norm)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
fn batch_norm_meta(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    running_mean: Option<&Tensor>,
    running_var: Option<&Tensor>,
    training: bool,
    _momentum: f64,
    _eps: f64,
) -> Result<Three> {
    on_meta(batch_norm_specs(input, [weight, bias, running_mean, running_var], training)?)
}

#[op_meta(_native_batch_norm_legit)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
fn batch_norm_legit_meta(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    running_mean: &mut Tensor,
    running_var: &mut Tensor,
    training: bool,
    _momentum: f64,
    _eps: f64,
) -> Result<Three> {
    on_meta(batch_norm_specs(input, [weight, bias, Some(running_mean), Some(running_var)], training)?)
}

#[op_meta(_native_batch_norm_legit_no_stats)]
fn batch_norm_no_stats_meta(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    _training: bool,
    _momentum: f64,
    _eps: f64,
) -> Result<Three> {
    on_meta(batch_norm_specs(input, [weight, bias, None, None], true)?)
}

#[op_meta(_batch_norm_with_update)]
fn batch_norm_with_update_meta(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    running_mean: &mut Tensor,
    running_var: &mut Tensor,
    _momentum: f64,
    _eps: f64,
) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
    let (out, mean, rstd) =
        on_meta(batch_norm_specs(input, [weight, bias, Some(running_mean), Some(running_var)], true)?)?;
    Ok((out, mean, rstd, Spec::contiguous(DType::U8, &[0]).on(Device::META)?))
}

#[op_meta(native_batch_norm_backward)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
fn batch_norm_backward_meta(
    grad_out: &Tensor,
    input: &Tensor,
    weight: Option<&Tensor>,
    running_mean: Option<&Tensor>,
    running_var: Option<&Tensor>,
    save_mean: Option<&Tensor>,
    save_invstd: Option<&Tensor>,
    train: bool,
    _eps: f64,
    output_mask: &[bool],
) -> Result<Three> {
    let stats = if train { [save_mean, save_invstd] } else { [running_mean, running_var] };
    on_meta(batch_norm_gradients(grad_out, input, weight, stats, train, output_mask)?)
}

/// What a normalisation of channels looks like, and its statistics, of which there are none of old ones. The tensors are weight, bias,
/// and running mean and variance.
///
/// # Errors
///
/// Where the sizes do not fit together, or a dtype has no fraction.
pub fn batch_norm_specs(input: &Tensor, all: [Option<&Tensor>; 4], training: bool) -> Result<[Spec; 3], BadArgument> {
    check_floating(input)?;
    let Some(&channels) = input.sizes().get(1) else {
        return Err(BadArgument::rank("input", input.sizes().len(), "at least 2"));
    };
    for (name, tensor) in ["weight", "bias", "running_mean", "running_var"].into_iter().zip(all) {
        check_sizes(name, tensor, &[channels])?;
        if tensor.is_none() && !training && name.starts_with("running") {
            return Err(BadArgument::value(name, "nothing", "given, except in training"));
        }
    }
    let dtype = all[0].or(all[2]).map_or_else(|| input.dtype(), Tensor::dtype);
    let stats = Spec::contiguous(dtype, &[if training { channels } else { 0 }]);
    Ok([images_like(input, input.sizes()), stats.clone(), stats])
}

/// What the gradients of a normalisation of channels look like. The statistics are those that it was done with.
///
/// # Errors
///
/// As [`batch_norm_specs`] and [`gradient_specs`], and where statistics are missing.
pub fn batch_norm_gradients(
    grad_out: &Tensor,
    input: &Tensor,
    weight: Option<&Tensor>,
    statistics: [Option<&Tensor>; 2],
    train: bool,
    output_mask: &[bool],
) -> Result<[Spec; 3], BadArgument> {
    batch_norm_specs(input, [weight, None, None, None], true)?;
    let channels = input.sizes()[1];
    let names = if train { ["save_mean", "save_invstd"] } else { ["running_mean", "running_var"] };
    for (name, tensor) in names.into_iter().zip(statistics) {
        let Some(tensor) = tensor else { return Err(BadArgument::value(name, "nothing", "given")) };
        check_sizes(name, Some(tensor), &[channels])?;
    }
    gradient_specs(grad_out, input, &[channels], weight, output_mask)
}
