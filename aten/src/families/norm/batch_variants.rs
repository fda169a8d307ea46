//! PyTorch's further operators for batch normalisation: functional ones, ones that only update statistics, and ones that name an algorithm.
//!
//! A reserved buffer is empty, because no algorithm here needs one.

use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

use super::batch::check_batch_norm;
use crate::prelude::*;
use crate::{native_batch_norm, native_batch_norm_backward, native_batch_norm_out};

/// Computes [`_native_batch_norm_legit`](crate::_native_batch_norm_legit), and returns the new running statistics instead of writing them.
#[op_def(
    "_native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)",
    body = CompositeExplicitAutograd,
    check = check_batch_norm(input, [weight, bias, Some(running_mean), Some(running_var)], training)
)]
pub fn _native_batch_norm_legit_functional(_: ...) -> Result<(Tensor, Tensor, Tensor, Tensor, Tensor)> {
    let running = [running_mean, running_var];
    let used = running.map(|statistic| (!training).then_some(statistic));
    let (out, mean, rstd) = native_batch_norm(input, weight, bias, used[0], used[1], training, momentum, eps)?;
    let [mean, rstd] = in_running_dtype([mean, rstd], running_mean)?;
    let [new_mean, new_var] = if training {
        updated_statistics(input, running, momentum)?
    } else {
        [crate::clone(&crate::detach(running_mean)?, None)?, crate::clone(&crate::detach(running_var)?, None)?]
    };
    Ok((out, mean, rstd, new_mean, new_var))
}

/// Computes [`_batch_norm_with_update`](crate::_batch_norm_with_update), and returns the new running statistics instead of writing them.
#[op_def(
    "_batch_norm_with_update_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)",
    body = CompositeExplicitAutograd,
    check = check_batch_norm(input, [weight, bias, Some(running_mean), Some(running_var)], true)
)]
pub fn _batch_norm_with_update_functional(_: ...) -> Result<(Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)> {
    let (out, mean, rstd) = native_batch_norm(input, weight, bias, None, None, true, momentum, eps)?;
    let [mean, rstd] = in_running_dtype([mean, rstd], running_mean)?;
    let [new_mean, new_var] = updated_statistics(input, [running_mean, running_var], momentum)?;
    Ok((out, mean, rstd, reserved_buffer(input)?, new_mean, new_var))
}

/// Normalises each channel by the running statistics. Also returns three empty tensors: the saved statistics and a reserved buffer.
#[op_def(
    "_batch_norm_no_update(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)",
    out = "out",
    body = CompositeExplicitAutograd,
    check = check_batch_norm(input, [weight, bias, running_mean, running_var], false)
)]
pub fn _batch_norm_no_update(_: ...) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
    let (out, mean, rstd) = native_batch_norm(input, weight, bias, running_mean, running_var, false, momentum, eps)?;
    Ok((out, mean, rstd, reserved_buffer(input)?))
}

/// Computes [`native_batch_norm`](crate::native_batch_norm). Also returns an empty buffer, and the number of the algorithm, which is 0.
#[op_def(
    "_batch_norm_impl_index(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> (Tensor, Tensor, Tensor, Tensor, int)",
    check = check_batch_norm(input, [weight, bias, running_mean, running_var], training)
)]
pub fn _batch_norm_impl_index(_: ...) -> Result<(Tensor, Tensor, Tensor, Tensor, i64)> {
    let (out, mean, rstd) = native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)?;
    Ok((out, mean, rstd, reserved_buffer(input)?, 0))
}

/// The gradients of [`_batch_norm_impl_index`]. In PyTorch there are two other algorithms, for GPUs.
#[op_def(
    "_batch_norm_impl_index_backward(int impl_index, Tensor input, Tensor grad_output, Tensor? weight, Tensor? running_mean, Tensor? running_var, Tensor? save_mean, Tensor? save_var_transform, bool train, float eps, bool[3] output_mask, Tensor reservedSpace) -> (Tensor, Tensor, Tensor)"
)]
#[expect(non_snake_case, reason = "the arguments have the names of the schema")]
pub fn _batch_norm_impl_index_backward(_: ...) -> Result<(Tensor, Tensor, Tensor)> {
    if impl_index != 0 {
        return Err(BadArgument::number("impl_index", impl_index, 0).into());
    }
    let saved = [save_mean, save_var_transform];
    let running = [running_mean, running_var];
    native_batch_norm_backward(
        grad_output,
        input,
        weight,
        running[0],
        running[1],
        saved[0],
        saved[1],
        train,
        eps,
        output_mask,
    )
}

/// The gradients of [`_batch_norm_with_update`](crate::_batch_norm_with_update), and without `update`, of [`_batch_norm_no_update`].
#[op_def(
    "batch_norm_backward(Tensor grad_out, Tensor input, Tensor weight, Tensor? running_mean, Tensor? running_var, Tensor? save_mean, Tensor? save_var, bool update, float eps, bool[3] output_mask, Tensor reserve) -> (Tensor, Tensor, Tensor)"
)]
pub fn batch_norm_backward(_: ...) -> Result<(Tensor, Tensor, Tensor)> {
    native_batch_norm_backward(
        grad_out,
        input,
        Some(weight),
        running_mean,
        running_var,
        save_mean,
        save_var,
        update,
        eps,
        output_mask,
    )
}

/// Returns the mean and the variance of each channel, and updates the running statistics. The variance has no correction.
#[op_def(
    "batch_norm_update_stats(Tensor input, Tensor? running_mean, Tensor? running_var, float momentum) -> (Tensor, Tensor)",
    out = "out",
    body = CompositeExplicitAutograd
)]
pub fn batch_norm_update_stats(_: ...) -> Result<(Tensor, Tensor)> {
    check_batch_norm(input, [None, None, running_mean, running_var], true)?;
    let dtype = running_mean.map_or_else(|| input.dtype(), Tensor::dtype);
    let input = input.to(dtype)?;
    let (var, mean) = crate::var_mean_correction(&input, Some(&dims_but_channels(&input)), Some(0.into()), false)?;
    let count = input.geometry().count() / input.sizes()[1].max(1);
    let unbiased = crate::mul_scalar(&var, unbiased_factor(count).into())?;
    for (running, new) in [(running_mean, &mean), (running_var, &unbiased)] {
        if let Some(running) = running {
            crate::copy_(&mut running.clone(), &moving_average(running, new, momentum)?, false)?;
        }
    }
    Ok((mean, var))
}

/// Returns the statistics of a batch in the dtype of the running ones, which may be wider than that of the batch.
fn in_running_dtype(statistics: [Tensor; 2], running: &Tensor) -> Result<[Tensor; 2]> {
    let [mean, rstd] = statistics;
    Ok([mean.to(running.dtype())?, rstd.to(running.dtype())?])
}

/// Returns the running statistics after an update by the batch `input`.
fn updated_statistics(input: &Tensor, [mean, var]: [&Tensor; 2], momentum: f64) -> Result<[Tensor; 2]> {
    let input = crate::detach(input)?.to(mean.dtype())?;
    let dims = dims_but_channels(&input);
    let (new_var, new_mean) = crate::var_mean_correction(&input, Some(&dims), Some(1.into()), false)?;
    let [mean, var] = [crate::detach(mean)?, crate::detach(var)?];
    Ok([moving_average(&mean, &new_mean, momentum)?, moving_average(&var, &new_var, momentum)?])
}

/// Returns the running statistic after an update by the statistic `new` of a batch.
fn moving_average(running: &Tensor, new: &Tensor, momentum: f64) -> Result<Tensor> {
    (running * (1.0 - momentum))? + (new * momentum)?
}

/// Returns the factor from a variance without correction to one that is divided by `count - 1`.
#[expect(clippy::cast_precision_loss, reason = "a count of elements is below 2^53")]
fn unbiased_factor(count: i64) -> f64 {
    count as f64 / (count - 1) as f64
}

fn dims_but_channels(input: &Tensor) -> Vec<i64> {
    (0_i64..).take(input.sizes().len()).filter(|&dim| dim != 1).collect()
}

fn reserved_buffer(input: &Tensor) -> Result<Tensor> {
    Tensor::empty(0, (DType::U8, input.device()))
}

/// Computes [`_native_batch_norm_legit`](crate::_native_batch_norm_legit) into `out`, `save_mean` and `save_invstd`.
#[op_def(
    "_native_batch_norm_legit.out(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) running_var, bool training, float momentum, float eps, *, Tensor(d!) out, Tensor(e!) save_mean, Tensor(f!) save_invstd) -> (Tensor(d!), Tensor(e!), Tensor(f!))",
    body = CompositeExplicitAutograd
)]
pub fn _native_batch_norm_legit_out(_: ...) -> Result<()> {
    let running = [Some(&*running_mean), Some(&*running_var)];
    native_batch_norm_out(
        input,
        weight,
        bias,
        running[0],
        running[1],
        training,
        momentum,
        eps,
        out,
        save_mean,
        save_invstd,
    )
}

/// Computes [`_batch_norm_with_update`](crate::_batch_norm_with_update) into `out`, `save_mean`, `save_invstd` and `reserve`.
#[op_def(
    "_batch_norm_with_update.out(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) running_var, float momentum, float eps, *, Tensor(d!) out, Tensor(e!) save_mean, Tensor(f!) save_invstd, Tensor(g!) reserve) -> (Tensor(d!), Tensor(e!), Tensor(f!), Tensor(g!))",
    body = CompositeExplicitAutograd
)]
pub fn _batch_norm_with_update_out(_: ...) -> Result<()> {
    if reserve.geometry().count() != 0 {
        return Err(BadArgument::sizes("reserve", reserve.sizes(), &[0][..]).into());
    }
    _native_batch_norm_legit_out(
        input,
        weight,
        bias,
        running_mean,
        running_var,
        true,
        momentum,
        eps,
        out,
        save_mean,
        save_invstd,
    )
}
