//! Lines are groups of channels, and every channel has parameters.

use dispatch_runtime::{Geometry, Result, Tensor, op_impl};

use super::planes::{Part, centered, sums};
use super::{Three, float, forward, parameter, reciprocal_deviation};
use crate::compute::Fraction;
use crate::numbers::{elements, usized, write};
use crate::reduce::computed;

/// A tensor of channels as one of groups of channels.
fn grouped(tensor: &Tensor, group: i64) -> Result<Tensor> {
    let (sizes, strides) = (tensor.sizes(), tensor.strides());
    let channels = sizes[1] / group;
    let sizes = [&[sizes[0], group, channels], &sizes[2..]].concat();
    let strides = [&[strides[0], strides[1].saturating_mul(channels), strides[1]], &strides[2..]].concat();
    let geometry = Geometry::strided(&sizes, &strides, tensor.geometry().offset());
    Ok(tensor.restride(geometry.unwrap_or_else(|| Geometry::contiguous(&sizes)))?)
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
    let (out, mut mean, mut rstd) = (out.on(input.device())?, mean.on(input.device())?, rstd.on(input.device())?);
    let view = grouped(input, group)?;
    let dims: Vec<bool> = (0..view.sizes().len()).map(|dim| dim >= 2).collect();
    let (groups, channels) = (usized(group), usized(C / group));
    let shared = |line: usize| line % groups * channels..(line % groups + 1) * channels;
    let [means, vars] =
        forward::<aten::native_group_norm>(&view, &dims, &mut grouped(&out, group)?, eps, [weight, bias], shared, C)?;
    write(&mut mean, &means)?;
    write(&mut rstd, &vars.into_iter().map(|var| reciprocal_deviation(var, eps)).collect::<Vec<_>>())?;
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
    let specs = aten::group_norm_gradients(grad_out, input, [mean, rstd], weight, [N, C, HxW, group], output_mask)?;
    let [a, b, c] = specs.map(|spec| spec.on(input.device()));
    let (mut of_input, mut of_weight, mut of_bias) = (a?, b?, c?);
    let dims: Vec<bool> = (0..input.sizes().len()).map(|dim| dim >= 2).collect();
    let (mean, rstd) = (elements::<f64>(mean)?, elements::<f64>(rstd)?);
    let (all, channels) = (usized(C), usized(C / group));
    // Lines are planes, and groups are so many planes in a row.
    let of = |plane: usize| plane / channels;
    computed!(aten::native_group_norm_backward, input.dtype(), T: [f32, f64] => {
        let [sums, slopes] = sums([grad_out, input], &dims, |plane| T::near(mean[of(plane)]))?;
        if output_mask[0] {
            let weight = parameter::<T>(weight, C, 1.0)?;
            let count = float(channels * usized(HxW));
            let weighed = |values: &[f64], group: usize| {
                let planes = group * channels..(group + 1) * channels;
                let start = planes.start % all;
                weighted(&values[planes], &weight[start..start + channels]) / count
            };
            let means: Vec<[f64; 2]> =
                (0..mean.len()).map(|group| [weighed(&sums, group), weighed(&slopes, group)]).collect();
            let part = |plane: usize| {
                let (mean, rstd, [sum, slope]) = (mean[of(plane)], rstd[of(plane)], means[of(plane)]);
                Part {
                    weight: weight[plane % all],
                    mean: T::near(mean),
                    sum: T::near(sum),
                    slope: T::near(slope * rstd * rstd),
                    scale: T::near(rstd),
                }
            };
            centered([grad_out, input], &mut of_input, &dims, part)?;
        }
        let by_channel = |value: &dyn Fn(usize) -> f64| {
            let mut totals = vec![0.0; all];
            (0..sums.len()).for_each(|plane| totals[plane % all] += value(plane));
            totals
        };
        if output_mask[1] {
            write(&mut of_weight, &by_channel(&|plane| slopes[plane] * rstd[of(plane)]))?;
        }
        if output_mask[2] {
            write(&mut of_bias, &by_channel(&|plane| sums[plane]))?;
        }
        Ok(())
    })?;
    Ok((of_input, of_weight, of_bias))
}

/// The sum of numbers times their weights.
fn weighted<T: Copy + Into<f64>>(values: &[f64], weights: &[T]) -> f64 {
    values.iter().zip(weights).map(|(value, &weight)| value * weight.into()).sum()
}
