//! Kernels of group normalisation: rows are groups of channels, and every channel has a weight and a bias.

use aten::GroupNormPlan;
use dispatch_runtime::{DType, Geometry, Result, Spec, Tensor, op_impl, operands};

use super::channel_gradients::{Part, add_up};
use super::{float, forward, parameter};
use engine::allocation::usized;
use engine::compute::Precision;
use engine::contiguous::{elements, write};
use engine::math::vectorised;
use engine::reduce::{computed, lines};

/// Returns a view with the channels split into groups.
fn grouped(tensor: &Tensor, group: i64) -> Result<Tensor> {
    let (sizes, strides) = (tensor.sizes(), tensor.strides());
    let channels = sizes[1] / group;
    let sizes = [&[sizes[0], group, channels], &sizes[2..]].concat();
    let strides = [&[strides[0], strides[1].saturating_mul(channels), strides[1]], &strides[2..]].concat();
    let geometry = Geometry::strided(&sizes, &strides, tensor.geometry().offset());
    Ok(tensor.restride(geometry.unwrap_or_else(|| Geometry::contiguous(&sizes)))?)
}

#[op_impl(aten::native_group_norm, CPU)]
#[expect(non_snake_case, reason = "the schema's")]
fn group_norm(plan: &GroupNormPlan, [out, mean, rstd]: [&mut Tensor; 3], _: ...) -> Result<()> {
    let view = grouped(input, group)?;
    let dims: Vec<bool> = (0..view.sizes().len()).map(|dim| dim >= 2).collect();
    let (groups, channels) = (usized(group), usized(plan.group_channels));
    let shared = |line: usize| line % groups * channels..(line % groups + 1) * channels;
    let out = [&mut grouped(out, group)?, mean, rstd];
    forward::<aten::native_group_norm>(&view, &dims, out, eps, [weight, bias], shared, C)
}

#[op_impl(aten::native_group_norm_backward, CPU)]
#[expect(non_snake_case, reason = "the schema's")]
fn group_norm_backward(plan: &GroupNormPlan, [of_input, of_weight, of_bias]: [&mut Tensor; 3], _: ...) -> Result<()> {
    let (mean, rstd) = (elements::<f64>(mean)?, elements::<f64>(rstd)?);
    let (grads, inputs) = (grouped(grad_out, group)?, grouped(input, group)?);
    let dims: Vec<bool> = (0..inputs.sizes().len()).map(|dim| dim >= 2).collect();
    let (groups, channels, area) = (usized(group), usized(plan.group_channels), usized(HxW));
    let planes: Vec<i64> =
        [N, group, plan.group_channels].into_iter().chain(input.sizes()[2..].iter().map(|_| 1)).collect();
    let mut sums = Spec::contiguous(DType::F64, &planes).on(input.device())?;
    let mut slopes = sums.fresh_like(DType::F64)?;
    computed!(aten::native_group_norm_backward, input.dtype(), T: [f32, f64] => {
        let weight = parameter::<T>(weight, C, 1.0)?;
        let add_planes = |group: usize, both: [&[T]; 2], [sums, slopes]: [&mut [f64]; 2]| {
            let mean = T::near(mean[group]);
            vectorised!({
                for (channel, (sum, slope)) in sums.iter_mut().zip(slopes).enumerate() {
                    [*sum, *slope] = add_up(both.map(|line| &line[channel * area..][..area]), mean);
                }
            });
        };
        if output_mask[0] {
            let mut out = grouped(of_input, group)?;
            let taken = operands!(write out, sums, slopes; read grads, inputs)?;
            lines(&dims, &taken, |group, both, [out]: [&mut [T]; 1], [sums, slopes]| {
                add_planes(group, both, [&mut *sums, &mut *slopes]);
                let weight = &weight[group % groups * channels..][..channels];
                let average = |values: &[f64]| weighted(values, weight) / float(channels * area);
                let (mean, scale) = (T::near(mean[group]), T::near(rstd[group]));
                let (sum, slope) = (T::near(average(sums)), T::near(average(slopes) * rstd[group] * rstd[group]));
                vectorised!({
                    for (channel, &weight) in weight.iter().enumerate() {
                        let at = channel * area..(channel + 1) * area;
                        let part = Part { weight, mean, sum, slope, scale };
                        part.write(both.map(|line| &line[at.clone()]), &mut out[at]);
                    }
                });
            });
        } else {
            let taken = operands!(write sums, slopes; read grads, inputs)?;
            lines(&dims, &taken, |group, both, []: [&mut [T]; 0], planes| {
                add_planes(group, both, planes);
            });
        }
        Ok(())
    })?;
    let (sums, slopes): (Vec<f64>, Vec<f64>) = (sums.to_vec()?, slopes.to_vec()?);
    let by_channel = |value: &dyn Fn(usize) -> f64| {
        let mut totals = vec![0.0; groups * channels];
        (0..sums.len()).for_each(|plane| totals[plane % (groups * channels)] += value(plane));
        totals
    };
    if output_mask[1] {
        write(of_weight, &by_channel(&|plane| slopes[plane] * rstd[plane / channels]))?;
    }
    if output_mask[2] {
        write(of_bias, &by_channel(&|plane| sums[plane]))?;
    }
    Ok(())
}

/// Returns the sum of the values times their weights.
fn weighted<T: Copy + Into<f64>>(values: &[f64], weights: &[T]) -> f64 {
    values.iter().zip(weights).map(|(value, &weight)| value * weight.into()).sum()
}
