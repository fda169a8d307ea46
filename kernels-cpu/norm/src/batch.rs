//! Kernels of batch normalisation: rows are channels or planes of channels, with one weight for each channel.

use dispatch_runtime::{Floating, Result, Tensor, op_impl, operands};

use super::row_gradients::{
    GradientCoefficients, MAX_ELEMENTS_IN_L2, gradient_sums_of_all_rows, sum_and_write_channel_gradients,
    write_input_gradient,
};
use super::{
    AffineParameters, mean_and_variance, new_row_statistics, normalize_row, parameter_or_default,
    reciprocal_standard_deviation, round_to_compute_type, to_f64,
};
use engine::allocation::to_usize;
use engine::compute::RealFloat;
use engine::contiguous::{convert_to_vec, write_f64_values};
use engine::math::vectorised;
use engine::reduce::{for_each_line, with_compute_type};

/// The minimum size of a plane that is a row. Shorter planes of a channel form one row together.
const MIN_PLANE_ROW_SIZE: i64 = 64;

/// Returns marks for the dimensions that a row of the normalisation spans. It is a plane, which is the channel of one image, or the whole
/// channel if planes are short. In both cases the channel is the row's number modulo the number of channels.
fn row_dims_mask(input: &Tensor) -> Vec<bool> {
    let short = dispatch_runtime::element_count(&input.sizes()[2..]) < MIN_PLANE_ROW_SIZE;
    (0..input.sizes().len()).map(|dim| if short { dim != 1 } else { dim > 1 }).collect()
}

/// Computes the means of channels, and their variances without correction.
fn channel_means_and_variances(input: &Tensor) -> Result<[Vec<f64>; 2]> {
    let dims = row_dims_mask(input);
    let [mut means, mut vars] = new_row_statistics(input, &dims)?;
    let operands = operands!(write means, vars; read input)?;
    with_compute_type!(aten::native_batch_norm, input.dtype(), T: [f32, f64] => {
        for_each_line(&dims, &operands, |_, [line]: [&[T]; 1], [mean]: [&mut [f64]; 1], [var]: [&mut [f64]; 1]| {
            (mean[0], var[0]) = mean_and_variance(line);
        });
        Ok(())
    })?;
    drop(operands);
    Ok(merge_plane_moments(&means.to_vec()?, &vars.to_vec()?, to_usize(input.sizes()[1])))
}

/// Merges the moments of planes to those of channels. All planes have the same number of elements.
fn merge_plane_moments(means: &[f64], vars: &[f64], channels: usize) -> [Vec<f64>; 2] {
    let average = |values: &[f64]| {
        let mut sums = vec![0.0; channels];
        for plane in values.chunks(channels.max(1)) {
            for (sum, value) in sums.iter_mut().zip(plane) {
                *sum += value;
            }
        }
        let count = to_f64(values.len() / channels.max(1));
        sums.into_iter().map(|sum| sum / count).collect::<Vec<_>>()
    };
    let centers = average(means);
    let differences = means.iter().zip(centers.iter().cycle()).zip(vars);
    let variances: Vec<f64> =
        differences.map(|((mean, center), var)| var + (mean - center) * (mean - center)).collect();
    let variances = average(&variances);
    [centers, variances]
}

/// Normalises channels by the given statistics.
fn normalize_channels(
    input: &Tensor,
    out: &mut Tensor,
    [weight, bias]: [Option<&Tensor>; 2],
    [means, rstds]: [&[f64]; 2],
) -> Result<()> {
    let channels = input.sizes()[1];
    with_compute_type!(aten::native_batch_norm, input.dtype(), T: [f32, f64] => {
        let (weight, bias) = (parameter_or_default::<T>(weight, channels, 1.0)?, parameter_or_default::<T>(bias, channels, 0.0)?);
        let operands = operands!(write out; read input)?;
        for_each_line(&row_dims_mask(input), &operands, |number, [line]: [&[T]; 1], [out]: [&mut [T]; 1], []: [&mut [T]; 0]| {
            let channel = number % to_usize(channels);
            let of = channel..channel + 1;
            let shared = AffineParameters { weight: &weight[of.clone()], bias: &bias[of] };
            normalize_row(line, out, (means[channel], rstds[channel]), shared);
        });
        Ok(())
    })
}

/// Normalises channels by their own statistics, and updates the running statistics.
fn normalize_and_update_statistics(
    [out, mean, rstd]: [&mut Tensor; 3],
    input: &Tensor,
    parameters: [Option<&Tensor>; 2],
    running: [Option<&Tensor>; 2],
    momentum: f64,
    eps: f64,
) -> Result<()> {
    let [means, vars] = channel_means_and_variances(input)?;
    // A batch of equal elements that nothing is added to becomes zero.
    let inverse = |&var: &f64| if var == 0.0 && eps == 0.0 { 0.0 } else { reciprocal_standard_deviation(var, eps) };
    let rstds: Vec<f64> = vars.iter().map(inverse).collect();
    normalize_channels(input, out, parameters, [&means, &rstds])?;
    write_f64_values(mean, &means)?;
    write_f64_values(rstd, &rstds)?;
    let count = to_f64(to_usize(input.geometry().count())) / to_f64(to_usize(input.sizes()[1]).max(1));
    for (running, (current, correction)) in running.into_iter().zip([(means, 1.0), (vars, count / (count - 1.0))]) {
        if let Some(running) = running {
            let before = convert_to_vec::<f64>(running)?;
            let updated = before.into_iter().zip(current);
            let updated = updated.map(|(before, current)| momentum * correction * current + (1.0 - momentum) * before);
            write_f64_values(&mut running.clone(), &updated.collect::<Vec<_>>())?;
        }
    }
    Ok(())
}

/// Returns means and reciprocals of standard deviations: those saved in training, or from the running statistics.
fn saved_or_running_statistics(statistics: [Option<&Tensor>; 2], eps: f64, train: bool) -> Result<[Vec<f64>; 2]> {
    let [mean, spread] = statistics.map(|tensor| tensor.map_or_else(|| Ok(Vec::new()), convert_to_vec::<f64>));
    let mut spread = spread?;
    if !train {
        for spread in &mut spread {
            *spread = reciprocal_standard_deviation(*spread, eps);
        }
    }
    Ok([mean?, spread])
}

#[op_impl(aten::native_batch_norm, CPU)]
fn batch_norm(_plan: &(), out: [&mut Tensor; 3], _: ...) -> Result<()> {
    let (parameters, running) = ([weight, bias], [running_mean, running_var]);
    if training {
        return normalize_and_update_statistics(out, input, parameters, running, momentum, eps);
    }
    let ([means, rstds], [out, _, _]) = (saved_or_running_statistics(running, eps, false)?, out);
    normalize_channels(input, out, parameters, [&means, &rstds])
}

#[op_impl(aten::native_batch_norm_backward, CPU)]
fn batch_norm_backward(_plan: &(), [input_grad, weight_grad, bias_grad]: [&mut Tensor; 3], _: ...) -> Result<()> {
    let statistics = if train { [save_mean, save_invstd] } else { [running_mean, running_var] };
    let [mean, rstd] = saved_or_running_statistics(statistics, eps, train)?;
    with_compute_type!(aten::native_batch_norm_backward, input.dtype(), T: [f32, f64] => {
        let mean = round_to_compute_type::<T>(&mean);
        let weight = parameter_or_default::<T>(weight, input.sizes()[1], 1.0)?;
        let scales: Vec<T> = weight.iter().zip(&rstd).map(|(&weight, &rstd)| weight * T::from_f64(rstd)).collect();
        let count = to_f64(to_usize(input.geometry().count())) / to_f64(mean.len());
        let coefficients = |channel: usize, [sum, slope]: [f64; 2]| {
            let slope = T::from_f64(slope * rstd[channel] * rstd[channel] / count);
            GradientCoefficients { weight: T::from_f64(1.0), mean: mean[channel], sum: T::from_f64(sum / count), slope, scale: scales[channel] }
        };
        let sums = if output_mask[0] && train {
            write_input_gradient_by_channel([grad_out, input], input_grad, &mean, coefficients)?
        } else if output_mask[1] || output_mask[2] {
            channel_gradient_sums([grad_out, input], &mean)?
        } else {
            Vec::new()
        };
        if output_mask[0] && !train {
            scale_channels(grad_out, input_grad, &scales)?;
        }
        if output_mask[1] {
            write_f64_values(weight_grad, &sums.iter().zip(&rstd).map(|([_, slope], rstd)| slope * rstd).collect::<Vec<_>>())?;
        }
        if output_mask[2] {
            write_f64_values(bias_grad, &sums.iter().map(|[sum, _]| *sum).collect::<Vec<_>>())?;
        }
        Ok(())
    })
}

/// Sums for every channel the gradients, and the gradients times the deviations from its mean.
fn channel_gradient_sums<T: RealFloat + Into<f64>>(both: [&Tensor; 2], means: &[T]) -> Result<Vec<[f64; 2]>> {
    let [sums, slopes] =
        gradient_sums_of_all_rows(both, &row_dims_mask(both[1]), |number| means[number % means.len()])?;
    let mut totals = vec![[0.0; 2]; means.len()];
    for (number, (sum, slope)) in sums.into_iter().zip(slopes).enumerate() {
        let total = &mut totals[number % means.len()];
        *total = [total[0] + sum, total[1] + slope];
    }
    Ok(totals)
}

/// Computes the input's gradient if the statistics depend on the input. `coefficients` computes the coefficients of a channel from the
/// channel's number and gradient sums. Returns the gradient sums of all channels.
fn write_input_gradient_by_channel<T: RealFloat + Into<f64>>(
    both: [&Tensor; 2],
    out: &mut Tensor,
    means: &[T],
    coefficients: impl Fn(usize, [f64; 2]) -> GradientCoefficients<T> + Sync,
) -> Result<Vec<[f64; 2]>> {
    let dims = row_dims_mask(both[1]);
    let each = to_usize(both[1].geometry().count()) / means.len().max(1);
    if !dims[0] && each <= MAX_ELEMENTS_IN_L2 {
        let [grad_out, input] = both;
        let area = dispatch_runtime::element_count(&both[1].sizes()[2..]);
        let mut operands = operands!(write out; read grad_out, input)?;
        if let Ok(([out], [Some(grad), Some(line)])) = operands.slices::<T>() {
            return Ok(sum_and_write_channel_gradients(
                [grad, line],
                out,
                [means.len(), to_usize(area)],
                |channel| means[channel],
                coefficients,
            ));
        }
    }
    let sums = channel_gradient_sums(both, means)?;
    write_input_gradient(both, out, &dims, |number| coefficients(number % means.len(), sums[number % means.len()]))?;
    Ok(sums)
}

/// Computes the input's gradient if the statistics do not depend on the input: scales every channel.
fn scale_channels<T: RealFloat>(grad_out: &Tensor, out: &mut Tensor, scales: &[T]) -> Result<()> {
    let operands = operands!(write out; read grad_out)?;
    for_each_line(
        &row_dims_mask(grad_out),
        &operands,
        |number, [grad]: [&[T]; 1], [out]: [&mut [T]; 1], []: [&mut [T]; 0]| {
            let scale = scales[number % scales.len()];
            vectorised!({
                for (out, &grad) in out.iter_mut().zip(grad) {
                    *out = grad * scale;
                }
            });
        },
    );
    Ok(())
}
