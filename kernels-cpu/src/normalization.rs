//! Normalisation of lines: the last dimensions, groups of channels, or all of a channel.
//!
//! The three differ in what a line is and in which weight an element of it has; the rest is [`normalize`] and [`gradient`].

use dispatch_runtime::{DType, Element, Geometry, Operation, Result, Spec, Tensor, op_impl, operands};

use crate::compute::Compute;
use crate::math::vectorised;
use crate::reduce::{computed, lines};
use crate::reduction::variances::{Spread, spread};
use crate::softmax::Fraction;

type Three = (Tensor, Tensor, Tensor);

/// A type that is normalised in.
trait Normal: Fraction + Spread<Real = Self> + Compute {}

impl Normal for f32 {}
impl Normal for f64 {}

/// All elements of a tensor, side by side.
fn elements<T: Element>(tensor: &Tensor) -> Result<Vec<T>> {
    let mut copy = Spec::contiguous(T::DTYPE, tensor.sizes()).on(tensor.device())?;
    let taken = operands!(write copy; read tensor)?;
    let all = vec![true; tensor.sizes().len()];
    let ([to], [from]) = (taken.written(), taken.read());
    lines(&all, [from], [to], [], |_, [from]: [&[T]; 1], [to]: [&mut [T]; 1], []: [&mut [T]; 0]| to.copy_from_slice(from));
    drop(taken);
    Ok(copy.read::<T>()?.to_vec())
}

/// The elements of a parameter, or as many times what stands for it.
fn parameter<T: Normal>(tensor: Option<&Tensor>, count: i64, otherwise: f64) -> Result<Vec<T>> {
    match tensor {
        Some(tensor) => elements(tensor),
        None => Ok(vec![T::real(otherwise); usize::try_from(count).unwrap_or(0)]),
    }
}

/// The mean of a line and the reciprocal of its standard deviation.
fn statistics<T: Normal>(line: &[T], eps: f64) -> (f64, f64) {
    let ([mean, _], squares) = spread(line);
    #[expect(clippy::cast_precision_loss, reason = "a variance is rounded")]
    let var = squares / line.len() as f64;
    (mean, (var + eps).sqrt().recip())
}

/// `(line - mean) * rstd * weight + bias`, with parameters that an element finds by its place.
#[inline(always)]
fn normalize<T: Normal>(
    line: &[T],
    out: &mut [T],
    (mean, rstd): (f64, f64),
    parameters: impl Fn(usize) -> (T, T),
) {
    let (mean, rstd) = (T::real(mean), T::real(rstd));
    vectorised(
        #[inline(always)]
        || {
            for (i, (out, &x)) in out.iter_mut().zip(line).enumerate() {
                let (weight, bias) = parameters(i);
                *out = x.minus(mean).times(rstd).times(weight).plus(bias);
            }
        },
    );
}

/// The gradient of a line that was normalised by statistics of its own.
#[inline(always)]
fn gradient<T: Normal>(
    grad: &[T],
    line: &[T],
    out: &mut [T],
    (mean, rstd): (f64, f64),
    weight: impl Fn(usize) -> T,
) {
    let each = |i: usize| {
        let grad = grad[i].times(weight(i)).parts()[0];
        (grad, (line[i].parts()[0] - mean) * rstd)
    };
    let (mut sum, mut product) = (0.0, 0.0);
    for i in 0..line.len() {
        let (grad, normal) = each(i);
        sum += grad;
        product += grad * normal;
    }
    #[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
    let count = line.len() as f64;
    let (sum, product) = (sum / count, product / count);
    for (i, out) in out.iter_mut().enumerate() {
        let (grad, normal) = each(i);
        *out = T::real((grad - sum - normal * product) * rstd);
    }
}

/// The sums over a line of gradients times what was normalised, and of gradients.
fn parameter_gradients<T: Normal>(grad: &[T], line: &[T], statistics: impl Fn(usize) -> (f64, f64)) -> (T, T) {
    let (mut of_weight, mut of_bias) = (0.0, 0.0);
    for (i, (grad, x)) in grad.iter().zip(line).enumerate() {
        let (mean, rstd) = statistics(i);
        of_weight += grad.parts()[0] * (x.parts()[0] - mean) * rstd;
        of_bias += grad.parts()[0];
    }
    (T::real(of_weight), T::real(of_bias))
}

/// The same tensor in other sizes, with each dimension's stride.
fn walked(tensor: &Tensor, sizes: &[i64], strides: &[i64]) -> Result<Tensor> {
    let geometry = Geometry::strided(sizes, strides, tensor.geometry().offset());
    Ok(tensor.restride(geometry.unwrap_or_else(|| tensor.geometry().clone()))?)
}

/// A tensor whose elements lie side by side, in other sizes.
fn sized(tensor: &Tensor, sizes: &[i64]) -> Result<Tensor> {
    walked(tensor, sizes, Geometry::contiguous(sizes).strides())
}

/// These sizes with ones in front, or behind.
fn with_ones(before: usize, sizes: &[i64], behind: usize) -> Vec<i64> {
    [&vec![1; before][..], sizes, &vec![1; behind]].concat()
}

fn forward<O: Operation, const S: usize>(
    input: &Tensor,
    dims: &[bool],
    [mut out, mut mean, mut rstd]: [Tensor; 3],
    eps: f64,
    parameters: [Option<&Tensor>; 2],
    place: impl Fn(usize, usize) -> usize + Sync,
    count: i64,
) -> Result<()> {
    let taken = operands!(write out, mean, rstd; read input)?;
    let ([to, first, second], [from]) = (taken.written(), taken.read());
    computed!(O, input.dtype(), T: [f32, f64] => {
        let (weight, bias) = (parameter::<T>(parameters[0], count, 1.0)?, parameter::<T>(parameters[1], count, 0.0)?);
        lines(dims, [from], [to], [first, second], |number, [line]: [&[T]; 1], [out]: [&mut [T]; 1], [mean, rstd]: [&mut [T]; 2]| {
            let found = statistics(line, eps);
            (mean[0], rstd[0]) = (T::real(found.0), T::real(found.1));
            match S {
                // A line has every parameter once.
                0 => normalize(line, out, found, |i| (weight[i], bias[i])),
                _ => normalize(line, out, found, |i| { let at = place(number, i); (weight[at], bias[at]) }),
            }
        });
        Ok(())
    })
}

#[op_impl(aten::native_layer_norm, CPU)]
fn layer_norm(
    input: &Tensor,
    normalized_shape: &[i64],
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    eps: f64,
) -> Result<Three> {
    let [out, mean, rstd] = aten::layer_norm_specs(input, normalized_shape, weight, bias)?;
    let outer = input.sizes().len() - normalized_shape.len();
    let dims: Vec<bool> = (0..input.sizes().len()).map(|dim| dim >= outer).collect();
    let (out, mean, rstd) = (out.on(input.device())?, mean.on(input.device())?, rstd.on(input.device())?);
    let count = normalized_shape.iter().product();
    let results = [out.clone(), mean.clone(), rstd.clone()];
    forward::<aten::native_layer_norm, 0>(input, &dims, results, eps, [weight, bias], |_, i| i, count)?;
    Ok((out, mean, rstd))
}

#[op_impl(aten::native_layer_norm_backward, CPU)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
fn layer_norm_backward(
    grad_out: &Tensor,
    input: &Tensor,
    normalized_shape: &[i64],
    mean: &Tensor,
    rstd: &Tensor,
    weight: Option<&Tensor>,
    _bias: Option<&Tensor>,
    output_mask: &[bool],
) -> Result<Three> {
    aten::layer_norm_specs(input, normalized_shape, weight, None)?;
    let [a, b, c] = aten::gradient_specs(grad_out, input, normalized_shape, weight, output_mask)?;
    let device = input.device();
    let (of_input, of_weight, of_bias) = (a.on(device)?, b.on(device)?, c.on(device)?);
    let outer = input.sizes().len() - normalized_shape.len();
    let dims: Vec<bool> = (0..input.sizes().len()).map(|dim| dim >= outer).collect();
    let across: Vec<bool> = dims.iter().map(|dim| !dim).collect();
    let (mean, rstd) = (elements::<f64>(mean)?, elements::<f64>(rstd)?);
    let count = normalized_shape.iter().product();
    let sizes = with_ones(outer, normalized_shape, 0);
    computed!(aten::native_layer_norm_backward, input.dtype(), T: [f32, f64] => {
        if output_mask[0] {
            let weight = parameter::<T>(weight, count, 1.0)?;
            backward(grad_out, input, &of_input, &dims, |line| (mean[line], rstd[line]), |_, i| weight[i])?;
        }
        parameters_backward::<T>(grad_out, input, [&of_weight, &of_bias], &sizes, &across, output_mask, |_, i| (mean[i], rstd[i]))
    })?;
    Ok((of_input, of_weight, of_bias))
}

/// The gradient of the input, a line at a time.
fn backward<T: Normal>(
    grad_out: &Tensor,
    input: &Tensor,
    out: &Tensor,
    dims: &[bool],
    statistics: impl Fn(usize) -> (f64, f64) + Sync,
    weight: impl Fn(usize, usize) -> T + Sync,
) -> Result<()> {
    let mut out = out.clone();
    let taken = operands!(write out; read grad_out, input)?;
    let ([to], [grad, from]) = (taken.written(), taken.read());
    lines(dims, [grad, from], [to], [], |number, [grad, line]: [&[T]; 2], [out]: [&mut [T]; 1], []: [&mut [T]; 0]| {
        gradient(grad, line, out, statistics(number), |i| weight(number, i));
    });
    Ok(())
}

/// The gradients of weight and bias, a parameter at a time: `dims` are those that it is repeated along.
fn parameters_backward<T: Normal>(
    grad_out: &Tensor,
    input: &Tensor,
    out: [&Tensor; 2],
    sizes: &[i64],
    dims: &[bool],
    wanted: &[bool],
    statistics: impl Fn(usize, usize) -> (f64, f64) + Sync,
) -> Result<()> {
    if !wanted[1] && !wanted[2] {
        return Ok(());
    }
    let of = |tensor: &Tensor, wanted: bool| {
        if wanted { sized(tensor, sizes) } else { Spec::contiguous(tensor.dtype(), sizes).on(tensor.device()) }
    };
    let (mut of_weight, mut of_bias) = (of(out[0], wanted[1])?, of(out[1], wanted[2])?);
    let taken = operands!(write of_weight, of_bias; read grad_out, input)?;
    let ([first, second], [grad, from]) = (taken.written(), taken.read());
    lines(dims, [grad, from], [first], [second], |number, [grad, line]: [&[T]; 2], [weight]: [&mut [T]; 1], [bias]: [&mut [T]; 1]| {
        (weight[0], bias[0]) = parameter_gradients(grad, line, |i| statistics(number, i));
    });
    Ok(())
}

/// A tensor of channels as one of groups of channels.
fn grouped(tensor: &Tensor, group: i64) -> Result<Tensor> {
    let (sizes, strides) = (tensor.sizes(), tensor.strides());
    let channels = sizes[1] / group;
    let sizes = [&[sizes[0], group, channels], &sizes[2..]].concat();
    let strides = [&[strides[0], strides[1].saturating_mul(channels), strides[1]], &strides[2..]].concat();
    walked(tensor, &sizes, &strides)
}

fn usized(value: i64) -> usize {
    usize::try_from(value).unwrap_or(0)
}

#[op_impl(aten::native_group_norm, CPU)]
#[expect(clippy::too_many_arguments, non_snake_case, reason = "the schema's")]
fn group_norm(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    N: i64,
    C: i64,
    HxW: i64,
    group: i64,
    eps: f64,
) -> Result<Three> {
    let [out, mean, rstd] = aten::group_norm_specs(input, weight, bias, [N, C, HxW, group])?;
    let (out, mean, rstd) = (out.on(input.device())?, mean.on(input.device())?, rstd.on(input.device())?);
    let view = grouped(input, group)?;
    let dims: Vec<bool> = (0..view.sizes().len()).map(|dim| dim >= 2).collect();
    let ones = with_ones(0, &[N, group], view.sizes().len() - 2);
    let results = [grouped(&out, group)?, sized(&mean, &ones)?, sized(&rstd, &ones)?];
    let (groups, channels, inner) = (usized(group), usized(C / group), usized(HxW));
    let place = move |line: usize, i: usize| line % groups * channels + i / inner;
    forward::<aten::native_group_norm, 1>(&view, &dims, results, eps, [weight, bias], place, C)?;
    Ok((out, mean, rstd))
}

#[op_impl(aten::native_group_norm_backward, CPU)]
#[expect(clippy::too_many_arguments, non_snake_case, reason = "the schema's")]
fn group_norm_backward(
    grad_out: &Tensor,
    input: &Tensor,
    mean: &Tensor,
    rstd: &Tensor,
    weight: Option<&Tensor>,
    N: i64,
    C: i64,
    HxW: i64,
    group: i64,
    output_mask: &[bool],
) -> Result<Three> {
    aten::group_norm_specs(input, weight, None, [N, C, HxW, group])?;
    let [a, b, c] = aten::gradient_specs(grad_out, input, &[C], weight, output_mask)?;
    let device = input.device();
    let (of_input, of_weight, of_bias) = (a.on(device)?, b.on(device)?, c.on(device)?);
    let (grad, view) = (grouped(grad_out, group)?, grouped(input, group)?);
    let rank = view.sizes().len();
    let dims: Vec<bool> = (0..rank).map(|dim| dim >= 2).collect();
    let across: Vec<bool> = (0..rank).map(|dim| dim != 1 && dim != 2).collect();
    let (mean, rstd) = (elements::<f64>(mean)?, elements::<f64>(rstd)?);
    let (groups, channels, inner) = (usized(group), usized(C / group), usized(HxW));
    let sizes = with_ones(1, &[group, C / group], rank - 3);
    computed!(aten::native_group_norm_backward, input.dtype(), T: [f32, f64] => {
        if output_mask[0] {
            let weight = parameter::<T>(weight, C, 1.0)?;
            let of_input = grouped(&of_input, group)?;
            let place = |line: usize, i: usize| weight[line % groups * channels + i / inner];
            backward(&grad, &view, &of_input, &dims, |line| (mean[line], rstd[line]), place)?;
        }
        parameters_backward::<T>(&grad, &view, [&of_weight, &of_bias], &sizes, &across, output_mask, |channel, i| {
            let line = i / inner * groups + channel / channels;
            (mean[line], rstd[line])
        })
    })?;
    Ok((of_input, of_weight, of_bias))
}

/// Which dimensions a channel has to itself.
fn channel_dims(input: &Tensor) -> Vec<bool> {
    (0..input.sizes().len()).map(|dim| dim != 1).collect()
}

/// Normalises channels by their own statistics, which are also given with the variances, without correction.
fn batch_norm_training<O: Operation>(
    input: &Tensor,
    [weight, bias]: [Option<&Tensor>; 2],
    running: [Option<Tensor>; 2],
    momentum: f64,
    eps: f64,
) -> Result<Three> {
    let [out, mean, rstd] =
        aten::batch_norm_specs(input, [weight, bias, running[0].as_ref(), running[1].as_ref()], true)?;
    let (out, mean, rstd) = (out.on(input.device())?, mean.on(input.device())?, rstd.on(input.device())?);
    let channels = input.sizes()[1];
    let ones = with_ones(1, &[channels], input.sizes().len() - 2);
    // What is kept is rounded; what runs on is not.
    let exact = [DType::F64; 2].map(|dtype| Spec::contiguous(dtype, &ones).on(input.device()));
    let [means, rstds] = exact;
    let (means, rstds) = (means?, rstds?);
    let results = [out.clone(), sized(&mean, &ones)?, sized(&rstd, &ones)?];
    forward::<O, 1>(input, &channel_dims(input), results, eps, [weight, bias], |line, _| line, channels)?;
    if running.iter().any(Option::is_some) {
        channel_statistics::<O>(input, &means, &rstds)?;
        let (means, vars) = (elements::<f64>(&means)?, elements::<f64>(&rstds)?);
        for (running, fresh) in running.into_iter().zip([means, vars]) {
            if let Some(mut running) = running {
                move_on(&mut running, &fresh, momentum)?;
            }
        }
    }
    Ok((out, mean, rstd))
}

/// The means of channels, and their variances with correction.
fn channel_statistics<O: Operation>(input: &Tensor, means: &Tensor, vars: &Tensor) -> Result<()> {
    let (mut means, mut vars) = (means.clone(), vars.clone());
    let taken = operands!(write means, vars; read input)?;
    let ([first, second], [from]) = (taken.written(), taken.read());
    computed!(O, input.dtype(), T: [f32, f64] => {
        lines(&channel_dims(input), [from], [first], [second], |_, [line]: [&[T]; 1], [mean]: [&mut [f64]; 1], [var]: [&mut [f64]; 1]| {
            let ([center, _], squares) = spread(line);
            mean[0] = center;
            #[expect(clippy::cast_precision_loss, reason = "a variance is rounded")]
            let corrected = squares / (line.len() as f64 - 1.0);
            var[0] = corrected;
        });
        Ok(())
    })
}

/// Moves running statistics towards fresh ones.
fn move_on(running: &mut Tensor, fresh: &[f64], momentum: f64) -> Result<()> {
    let before = elements::<f64>(running)?;
    let after: Vec<f64> = before.iter().zip(fresh).map(|(before, fresh)| momentum * fresh + (1.0 - momentum) * before).collect();
    let after = Tensor::from_slice(&after);
    let all = vec![true; running.sizes().len()];
    let taken = operands!(write running; read after)?;
    let ([to], [from]) = (taken.written(), taken.read());
    lines(&all, [from], [to], [], |_, [from]: [&[f64]; 1], [to]: [&mut [f64]; 1], []: [&mut [f64]; 0]| to.copy_from_slice(from));
    Ok(())
}

/// Normalises channels by statistics of before.
fn batch_norm_inference<O: Operation>(
    input: &Tensor,
    [weight, bias]: [Option<&Tensor>; 2],
    running: [Option<&Tensor>; 2],
    eps: f64,
) -> Result<Three> {
    let [out, mean, rstd] = aten::batch_norm_specs(input, [weight, bias, running[0], running[1]], false)?;
    let (mut out, mean, rstd) = (out.on(input.device())?, mean.on(input.device())?, rstd.on(input.device())?);
    let channels = input.sizes()[1];
    let taken = operands!(write out; read input)?;
    let ([to], [from]) = (taken.written(), taken.read());
    computed!(O, input.dtype(), T: [f32, f64] => {
        let (weight, bias) = (parameter::<T>(weight, channels, 1.0)?, parameter::<T>(bias, channels, 0.0)?);
        let known = known::<T>(running, channels, eps)?;
        lines(&channel_dims(input), [from], [to], [], |channel, [line]: [&[T]; 1], [out]: [&mut [T]; 1], []: [&mut [T]; 0]| {
            normalize(line, out, known[channel], |_| (weight[channel], bias[channel]));
        });
        Ok(())
    })?;
    drop(taken);
    Ok((out, mean, rstd))
}

/// Means, and reciprocals of standard deviations, of running statistics.
fn known<T: Normal>(running: [Option<&Tensor>; 2], channels: i64, eps: f64) -> Result<Vec<(f64, f64)>> {
    let wide = |tensor: Option<&Tensor>| match tensor {
        Some(tensor) => elements::<f64>(tensor),
        None => Ok(vec![0.0; usized(channels)]),
    };
    let (means, vars) = (wide(running[0])?, wide(running[1])?);
    Ok(means.into_iter().zip(vars).map(|(mean, var)| (mean, (var + eps).sqrt().recip())).collect())
}

#[op_impl(aten::native_batch_norm, CPU)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
fn batch_norm(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    running_mean: Option<&Tensor>,
    running_var: Option<&Tensor>,
    training: bool,
    momentum: f64,
    eps: f64,
) -> Result<Three> {
    if training {
        let running = [running_mean.cloned(), running_var.cloned()];
        batch_norm_training::<aten::native_batch_norm>(input, [weight, bias], running, momentum, eps)
    } else {
        batch_norm_inference::<aten::native_batch_norm>(input, [weight, bias], [running_mean, running_var], eps)
    }
}

#[op_impl(aten::_native_batch_norm_legit, CPU)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
fn batch_norm_legit(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    running_mean: &mut Tensor,
    running_var: &mut Tensor,
    training: bool,
    momentum: f64,
    eps: f64,
) -> Result<Three> {
    batch_norm(input, weight, bias, Some(running_mean), Some(running_var), training, momentum, eps)
}

#[op_impl(aten::_native_batch_norm_legit_no_stats, CPU)]
fn batch_norm_no_stats(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    _training: bool,
    momentum: f64,
    eps: f64,
) -> Result<Three> {
    batch_norm(input, weight, bias, None, None, true, momentum, eps)
}

#[op_impl(aten::_batch_norm_with_update, CPU)]
fn batch_norm_with_update(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    running_mean: &mut Tensor,
    running_var: &mut Tensor,
    momentum: f64,
    eps: f64,
) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
    let (out, mean, rstd) = batch_norm(input, weight, bias, Some(running_mean), Some(running_var), true, momentum, eps)?;
    Ok((out, mean, rstd, Spec::contiguous(DType::U8, &[0]).on(input.device())?))
}

#[op_impl(aten::native_batch_norm_backward, CPU)]
#[expect(clippy::too_many_arguments, reason = "the schema's")]
fn batch_norm_backward(
    grad_out: &Tensor,
    input: &Tensor,
    weight: Option<&Tensor>,
    running_mean: Option<&Tensor>,
    running_var: Option<&Tensor>,
    _save_mean: Option<&Tensor>,
    _save_invstd: Option<&Tensor>,
    train: bool,
    eps: f64,
    output_mask: &[bool],
) -> Result<Three> {
    let running = if train { [None; 2] } else { [running_mean, running_var] };
    aten::batch_norm_specs(input, [weight, None, running[0], running[1]], train)?;
    let channels = input.sizes()[1];
    let [a, b, c] = aten::gradient_specs(grad_out, input, &[channels], weight, output_mask)?;
    let device = input.device();
    let (of_input, of_weight, of_bias) = (a.on(device)?, b.on(device)?, c.on(device)?);
    let dims = channel_dims(input);
    let ones = with_ones(1, &[channels], input.sizes().len() - 2);
    computed!(aten::native_batch_norm_backward, input.dtype(), T: [f32, f64] => {
        let known = if train { fresh::<T>(input, eps)? } else { known::<T>(running, channels, eps)? };
        if output_mask[0] {
            let weight = parameter::<T>(weight, channels, 1.0)?;
            let mut out = of_input.clone();
            let taken = operands!(write out; read grad_out, input)?;
            let ([to], [grad, from]) = (taken.written(), taken.read());
            lines(&dims, [grad, from], [to], [], |channel, [grad, line]: [&[T]; 2], [out]: [&mut [T]; 1], []: [&mut [T]; 0]| {
                if train {
                    return gradient(grad, line, out, known[channel], |_| weight[channel]);
                }
                let scale = weight[channel].times(T::real(known[channel].1));
                for (out, &grad) in out.iter_mut().zip(grad) {
                    *out = grad.times(scale);
                }
            });
        }
        parameters_backward::<T>(grad_out, input, [&of_weight, &of_bias], &ones, &dims, output_mask, |channel, _| known[channel])
    })?;
    Ok((of_input, of_weight, of_bias))
}

/// Means, and reciprocals of standard deviations, of the channels themselves.
fn fresh<T: Normal>(input: &Tensor, eps: f64) -> Result<Vec<(f64, f64)>> {
    let ones = with_ones(1, &[input.sizes()[1]], input.sizes().len() - 2);
    let mut means = Spec::contiguous(DType::F64, &ones).on(input.device())?;
    let mut rstds = Spec::contiguous(DType::F64, &ones).on(input.device())?;
    let taken = operands!(write means, rstds; read input)?;
    let ([first, second], [from]) = (taken.written(), taken.read());
    lines(&channel_dims(input), [from], [first], [second], |_, [line]: [&[T]; 1], [mean]: [&mut [f64]; 1], [rstd]: [&mut [f64]; 1]| {
        (mean[0], rstd[0]) = statistics(line, eps);
    });
    drop(taken);
    Ok(elements::<f64>(&means)?.into_iter().zip(elements::<f64>(&rstds)?).collect())
}
