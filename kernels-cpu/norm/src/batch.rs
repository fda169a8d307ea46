//! Kernels of batch normalisation: rows are channels or planes of channels, with one weight for each channel.

use dispatch_runtime::{Result, Tensor, op_impl, operands};

use super::channel_gradients::{NEAR, Part, centered, sums, sums_and_gradient};
use super::{Shared, float, moments, normalize, pair, parameter, reciprocal_deviation, rounded};
use engine::allocation::usized;
use engine::compute::{Fraction, Precision};
use engine::contiguous::{elements, write};
use engine::math::vectorised;
use engine::reduce::{computed, lines};

/// The minimum size of a plane that is a row. Shorter planes of a channel form one row together.
const SHORT: i64 = 64;

/// Returns the dimensions of a row. It is a plane, which is the channel of one image, or the whole channel if planes are short. In both
/// cases the channel is the row's number modulo the number of channels.
fn plane_dims(input: &Tensor) -> Vec<bool> {
    let short = dispatch_runtime::element_count(&input.sizes()[2..]) < SHORT;
    (0..input.sizes().len()).map(|dim| if short { dim != 1 } else { dim > 1 }).collect()
}

/// Computes the means of channels, and their variances without correction.
fn channel_moments(input: &Tensor) -> Result<[Vec<f64>; 2]> {
    let dims = plane_dims(input);
    let [mut means, mut vars] = pair(input, &dims)?;
    let taken = operands!(write means, vars; read input)?;
    computed!(aten::native_batch_norm, input.dtype(), T: [f32, f64] => {
        lines(&dims, &taken, |_, [line]: [&[T]; 1], [mean]: [&mut [f64]; 1], [var]: [&mut [f64]; 1]| {
            (mean[0], var[0]) = moments(line);
        });
        Ok(())
    })?;
    drop(taken);
    Ok(merged(&means.to_vec()?, &vars.to_vec()?, usized(input.sizes()[1])))
}

/// Merges the moments of planes to those of channels. All planes have the same number of elements.
fn merged(means: &[f64], vars: &[f64], channels: usize) -> [Vec<f64>; 2] {
    let average = |values: &[f64]| {
        let mut sums = vec![0.0; channels];
        for plane in values.chunks(channels.max(1)) {
            for (sum, value) in sums.iter_mut().zip(plane) {
                *sum += value;
            }
        }
        let count = float(values.len() / channels.max(1));
        sums.into_iter().map(|sum| sum / count).collect::<Vec<_>>()
    };
    let centers = average(means);
    let apart = means.iter().zip(centers.iter().cycle()).zip(vars);
    let spreads: Vec<f64> = apart.map(|((mean, center), var)| var + (mean - center) * (mean - center)).collect();
    let spreads = average(&spreads);
    [centers, spreads]
}

/// Normalises channels by the given statistics.
fn apply(
    input: &Tensor,
    out: &mut Tensor,
    [weight, bias]: [Option<&Tensor>; 2],
    [means, rstds]: [&[f64]; 2],
) -> Result<()> {
    let channels = input.sizes()[1];
    computed!(aten::native_batch_norm, input.dtype(), T: [f32, f64] => {
        let (weight, bias) = (parameter::<T>(weight, channels, 1.0)?, parameter::<T>(bias, channels, 0.0)?);
        let taken = operands!(write out; read input)?;
        lines(&plane_dims(input), &taken, |number, [line]: [&[T]; 1], [out]: [&mut [T]; 1], []: [&mut [T]; 0]| {
            let channel = number % usized(channels);
            let of = channel..channel + 1;
            let shared = Shared { weight: &weight[of.clone()], bias: &bias[of] };
            normalize(line, out, (means[channel], rstds[channel]), shared);
        });
        Ok(())
    })
}

/// Normalises channels by their own statistics, and updates the running statistics.
fn training(
    [out, mean, rstd]: [&mut Tensor; 3],
    input: &Tensor,
    parameters: [Option<&Tensor>; 2],
    running: [Option<&Tensor>; 2],
    momentum: f64,
    eps: f64,
) -> Result<()> {
    let [means, vars] = channel_moments(input)?;
    let rstds: Vec<f64> = vars.iter().map(|&var| reciprocal_deviation(var, eps)).collect();
    apply(input, out, parameters, [&means, &rstds])?;
    write(mean, &means)?;
    write(rstd, &rstds)?;
    let count = float(usized(input.geometry().count())) / float(usized(input.sizes()[1]).max(1));
    for (running, (fresh, correction)) in running.into_iter().zip([(means, 1.0), (vars, count / (count - 1.0))]) {
        if let Some(running) = running {
            let before = elements::<f64>(running)?;
            let moved = before.into_iter().zip(fresh);
            let moved = moved.map(|(before, fresh)| momentum * correction * fresh + (1.0 - momentum) * before);
            write(&mut running.clone(), &moved.collect::<Vec<_>>())?;
        }
    }
    Ok(())
}

/// Returns means and reciprocals of standard deviations: those saved in training, or from the running statistics.
fn known(statistics: [Option<&Tensor>; 2], eps: f64, train: bool) -> Result<[Vec<f64>; 2]> {
    let [mean, spread] = statistics.map(|tensor| tensor.map_or_else(|| Ok(Vec::new()), elements::<f64>));
    let mut spread = spread?;
    if !train {
        for spread in &mut spread {
            *spread = reciprocal_deviation(*spread, eps);
        }
    }
    Ok([mean?, spread])
}

#[op_impl(aten::native_batch_norm, CPU)]
fn batch_norm(_plan: &(), out: [&mut Tensor; 3], _: ...) -> Result<()> {
    let (parameters, running) = ([weight, bias], [running_mean, running_var]);
    if training {
        return self::training(out, input, parameters, running, momentum, eps);
    }
    let ([means, rstds], [out, _, _]) = (known(running, eps, false)?, out);
    apply(input, out, parameters, [&means, &rstds])
}

#[op_impl(aten::native_batch_norm_backward, CPU)]
fn batch_norm_backward(_plan: &(), [of_input, of_weight, of_bias]: [&mut Tensor; 3], _: ...) -> Result<()> {
    let statistics = if train { [save_mean, save_invstd] } else { [running_mean, running_var] };
    let [mean, rstd] = known(statistics, eps, train)?;
    computed!(aten::native_batch_norm_backward, input.dtype(), T: [f32, f64] => {
        let mean = rounded::<T>(&mean);
        let weight = parameter::<T>(weight, input.sizes()[1], 1.0)?;
        let scales: Vec<T> = weight.iter().zip(&rstd).map(|(&weight, &rstd)| weight * T::near(rstd)).collect();
        let count = float(usized(input.geometry().count())) / float(mean.len());
        let part = |channel: usize, [sum, slope]: [f64; 2]| {
            let slope = T::near(slope * rstd[channel] * rstd[channel] / count);
            Part { weight: T::near(1.0), mean: mean[channel], sum: T::near(sum / count), slope, scale: scales[channel] }
        };
        let sums = if output_mask[0] && train {
            centered_by_channel([grad_out, input], of_input, &mean, part)?
        } else if output_mask[1] || output_mask[2] {
            channel_sums([grad_out, input], &mean)?
        } else {
            Vec::new()
        };
        if output_mask[0] && !train {
            scaled(grad_out, of_input, &scales)?;
        }
        if output_mask[1] {
            write(of_weight, &sums.iter().zip(&rstd).map(|([_, slope], rstd)| slope * rstd).collect::<Vec<_>>())?;
        }
        if output_mask[2] {
            write(of_bias, &sums.iter().map(|[sum, _]| *sum).collect::<Vec<_>>())?;
        }
        Ok(())
    })
}

/// Sums for every channel the gradients, and the gradients times the deviations from its mean.
fn channel_sums<T: Fraction + Into<f64>>(both: [&Tensor; 2], means: &[T]) -> Result<Vec<[f64; 2]>> {
    let [sums, slopes] = sums(both, &plane_dims(both[1]), |number| means[number % means.len()])?;
    let mut totals = vec![[0.0; 2]; means.len()];
    for (number, (sum, slope)) in sums.into_iter().zip(slopes).enumerate() {
        let total = &mut totals[number % means.len()];
        *total = [total[0] + sum, total[1] + slope];
    }
    Ok(totals)
}

/// Computes the input's gradient if the statistics depend on the input. Returns the channels' sums, from which `part` makes coefficients.
fn centered_by_channel<T: Fraction + Into<f64>>(
    both: [&Tensor; 2],
    out: &mut Tensor,
    means: &[T],
    part: impl Fn(usize, [f64; 2]) -> Part<T> + Sync,
) -> Result<Vec<[f64; 2]>> {
    let dims = plane_dims(both[1]);
    let each = usized(both[1].geometry().count()) / means.len().max(1);
    if !dims[0] && each <= NEAR {
        let [grad_out, input] = both;
        let area = dispatch_runtime::element_count(&both[1].sizes()[2..]);
        let mut taken = operands!(write out; read grad_out, input)?;
        if let Ok(([out], [Some(grad), Some(line)])) = taken.slices::<T>() {
            return Ok(sums_and_gradient(
                [grad, line],
                out,
                [means.len(), usized(area)],
                |channel| means[channel],
                part,
            ));
        }
    }
    let sums = channel_sums(both, means)?;
    centered(both, out, &dims, |number| part(number % means.len(), sums[number % means.len()]))?;
    Ok(sums)
}

/// Computes the input's gradient if the statistics do not depend on the input: scales every channel.
fn scaled<T: Fraction>(grad_out: &Tensor, out: &mut Tensor, scales: &[T]) -> Result<()> {
    let taken = operands!(write out; read grad_out)?;
    lines(&plane_dims(grad_out), &taken, |number, [grad]: [&[T]; 1], [out]: [&mut [T]; 1], []: [&mut [T]; 0]| {
        let scale = scales[number % scales.len()];
        vectorised!({
            for (out, &grad) in out.iter_mut().zip(grad) {
                *out = grad * scale;
            }
        });
    });
    Ok(())
}
