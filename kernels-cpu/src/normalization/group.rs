//! Lines are groups of channels, and every channel has parameters.

use dispatch_runtime::{Geometry, Result, Tensor, op_impl};

use super::{Three, backward, forward, parameter, parameters_backward, reciprocal_deviation, rounded};
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
    let (of_input, mut of_weight, mut of_bias) = (a?, b?, c?);
    let (grad, view) = (grouped(grad_out, group)?, grouped(input, group)?);
    let rank = view.sizes().len();
    let dims: Vec<bool> = (0..rank).map(|dim| dim >= 2).collect();
    let across: Vec<bool> = (0..rank).map(|dim| dim != 1 && dim != 2).collect();
    let (mean, rstd) = (elements::<f64>(mean)?, elements::<f64>(rstd)?);
    let (pictures, groups, channels) = (usized(N), usized(group), usized(C / group));
    computed!(aten::native_group_norm_backward, input.dtype(), T: [f32, f64] => {
        if output_mask[0] {
            let weight = parameter::<T>(weight, C, 1.0)?;
            let shared = |line: usize| line % groups * channels..(line % groups + 1) * channels;
            backward([&grad, &view], &mut grouped(&of_input, group)?, &dims, [&mean, &rstd], &weight, shared)?;
        }
        // A channel meets its group's statistics of one picture after the other.
        let by_group = |values: &[f64]| -> Vec<f64> {
            (0..groups).flat_map(|group| (0..pictures).map(move |picture| values[picture * groups + group])).collect()
        };
        let (mean, rstd) = (rounded::<T>(&by_group(&mean)), rounded::<T>(&by_group(&rstd)));
        let shared = |channel: usize| channel / channels * pictures..(channel / channels + 1) * pictures;
        parameters_backward([&grad, &view], [&mut of_weight, &mut of_bias], &across, [&mean, &rstd], shared)
    })?;
    Ok((of_input, of_weight, of_bias))
}
