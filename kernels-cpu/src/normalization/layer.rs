//! Lines are the last dimensions, and every element of one has parameters of its own.

use dispatch_runtime::{Result, Tensor, op_impl};

use super::{Three, backward, forward, parameter, parameters_backward, reciprocal_deviation, rounded};
use crate::numbers::{elements, usized, write};
use crate::reduce::computed;

/// The dimensions that are normalised over, and how many elements they have.
fn inner(input: &Tensor, normalized_shape: &[i64]) -> (Vec<bool>, i64) {
    let outer = input.sizes().len() - normalized_shape.len();
    let dims = (0..input.sizes().len()).map(|dim| dim >= outer).collect();
    (dims, normalized_shape.iter().product())
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
    let (dims, count) = inner(input, normalized_shape);
    let (mut out, mut mean, mut rstd) = (out.on(input.device())?, mean.on(input.device())?, rstd.on(input.device())?);
    let all = 0..usized(count);
    let [means, vars] =
        forward::<aten::native_layer_norm>(input, &dims, &mut out, eps, [weight, bias], |_| all.clone(), count)?;
    write(&mut mean, &means)?;
    write(&mut rstd, &vars.into_iter().map(|var| reciprocal_deviation(var, eps)).collect::<Vec<_>>())?;
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
    let specs = aten::layer_norm_gradients(grad_out, input, normalized_shape, [mean, rstd], weight, output_mask)?;
    let [a, b, c] = specs.map(|spec| spec.on(input.device()));
    let (mut of_input, mut of_weight, mut of_bias) = (a?, b?, c?);
    let (dims, count) = inner(input, normalized_shape);
    let across: Vec<bool> = dims.iter().map(|dim| !dim).collect();
    let (mean, rstd) = (elements::<f64>(mean)?, elements::<f64>(rstd)?);
    let both = [grad_out, input];
    computed!(aten::native_layer_norm_backward, input.dtype(), T: [f32, f64] => {
        if output_mask[0] {
            let weight = parameter::<T>(weight, count, 1.0)?;
            backward(both, &mut of_input, &dims, [&mean, &rstd], &weight, |_| 0..weight.len())?;
        }
        let (mean, rstd) = (rounded::<T>(&mean), rounded::<T>(&rstd));
        parameters_backward(both, [&mut of_weight, &mut of_bias], &across, [&mean, &rstd], |_| 0..mean.len())
    })?;
    Ok((of_input, of_weight, of_bias))
}
