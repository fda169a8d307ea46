//! Kernels of group normalisation: rows are groups of channels, and every channel has a weight and a bias.

use aten::GroupNormPlan;
use dispatch_runtime::{DType, Floating, Geometry, Result, Spec, Tensor, op_impl, operands};

use super::row_gradients::{GradientCoefficients, gradient_sums_of_row};
use super::{normalize_rows, parameter_or_default, to_f64};
use engine::allocation::to_usize;
use engine::contiguous::{convert_to_vec, write_f64_values};
use engine::math::vectorised;
use engine::reduce::{for_each_line, with_compute_type};

/// Returns a view with the channels split into groups.
fn view_with_split_groups(tensor: &Tensor, group: i64) -> Result<Tensor> {
    let (sizes, strides) = (tensor.sizes(), tensor.strides());
    let channels = sizes[1] / group;
    let sizes = [&[sizes[0], group, channels], &sizes[2..]].concat();
    let strides = [&[strides[0], strides[1].saturating_mul(channels), strides[1]], &strides[2..]].concat();
    let geometry = Geometry::strided(&sizes, &strides, tensor.geometry().offset());
    Ok(tensor.restride(geometry.unwrap_or_else(|| Geometry::contiguous(&sizes)))?)
}

#[op_impl(aten::native_group_norm, CPU)]
#[expect(non_snake_case, reason = "the names of the schema")]
fn group_norm(plan: &GroupNormPlan, [out, mean, rstd]: [&mut Tensor; 3], _: ...) -> Result<()> {
    let view = view_with_split_groups(input, group)?;
    let dims: Vec<bool> = (0..view.sizes().len()).map(|dim| dim >= 2).collect();
    let (groups, channels) = (to_usize(group), to_usize(plan.group_channels));
    let shared = |line: usize| line % groups * channels..(line % groups + 1) * channels;
    let out = [&mut view_with_split_groups(out, group)?, mean, rstd];
    normalize_rows::<aten::native_group_norm>(&view, &dims, out, eps, [weight, bias], shared, C)
}

#[op_impl(aten::native_group_norm_backward, CPU)]
#[expect(non_snake_case, reason = "the names of the schema")]
fn group_norm_backward(
    plan: &GroupNormPlan,
    [input_grad, weight_grad, bias_grad]: [&mut Tensor; 3],
    _: ...
) -> Result<()> {
    let (mean, rstd) = (convert_to_vec::<f64>(mean)?, convert_to_vec::<f64>(rstd)?);
    let (grads, inputs) = (view_with_split_groups(grad_out, group)?, view_with_split_groups(input, group)?);
    let dims: Vec<bool> = (0..inputs.sizes().len()).map(|dim| dim >= 2).collect();
    let (groups, channels, area) = (to_usize(group), to_usize(plan.group_channels), to_usize(HxW));
    let planes: Vec<i64> =
        [N, group, plan.group_channels].into_iter().chain(input.sizes()[2..].iter().map(|_| 1)).collect();
    let mut sums = Spec::contiguous(DType::F64, &planes).on(input.device())?;
    let mut slopes = sums.allocate_like(DType::F64)?;
    with_compute_type!(aten::native_group_norm_backward, input.dtype(), T: [f32, f64] => {
        let weight = parameter_or_default::<T>(weight, C, 1.0)?;
        let add_planes = |group: usize, both: [&[T]; 2], [sums, slopes]: [&mut [f64]; 2]| {
            let mean = T::from_f64(mean[group]);
            vectorised!({
                for (channel, (sum, slope)) in sums.iter_mut().zip(slopes).enumerate() {
                    [*sum, *slope] = gradient_sums_of_row(both.map(|line| &line[channel * area..][..area]), mean);
                }
            });
        };
        if output_mask[0] {
            let mut out = view_with_split_groups(input_grad, group)?;
            let operands = operands!(write out, sums, slopes; read grads, inputs)?;
            for_each_line(&dims, &operands, |group, both, [out]: [&mut [T]; 1], [sums, slopes]| {
                add_planes(group, both, [&mut *sums, &mut *slopes]);
                let weight = &weight[group % groups * channels..][..channels];
                let average = |values: &[f64]| weighted_sum(values, weight) / to_f64(channels * area);
                let (mean, scale) = (T::from_f64(mean[group]), T::from_f64(rstd[group]));
                let (sum, slope) = (T::from_f64(average(sums)), T::from_f64(average(slopes) * rstd[group] * rstd[group]));
                vectorised!({
                    for (channel, &weight) in weight.iter().enumerate() {
                        let at = channel * area..(channel + 1) * area;
                        let coefficients = GradientCoefficients { weight, mean, sum, slope, scale };
                        coefficients.write_row_gradient(both.map(|line| &line[at.clone()]), &mut out[at]);
                    }
                });
            });
        } else {
            let operands = operands!(write sums, slopes; read grads, inputs)?;
            for_each_line(&dims, &operands, |group, both, []: [&mut [T]; 0], planes| {
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
        write_f64_values(weight_grad, &by_channel(&|plane| slopes[plane] * rstd[plane / channels]))?;
    }
    if output_mask[2] {
        write_f64_values(bias_grad, &by_channel(&|plane| sums[plane]))?;
    }
    Ok(())
}

/// Returns the sum of the values times their weights.
fn weighted_sum<T: Copy + Into<f64>>(values: &[f64], weights: &[T]) -> f64 {
    values.iter().zip(weights).map(|(value, &weight)| value * weight.into()).sum()
}
