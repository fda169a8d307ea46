//! Lines are the last dimensions, and every element of one has parameters of its own.

use dispatch_runtime::{Result, Tensor, op_impl};

use super::{Taken, Three, forward};
use crate::reduce::on;

#[op_impl(aten::native_layer_norm, CUDA)]
fn layer_norm(
    input: &Tensor,
    normalized_shape: &[i64],
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    eps: f64,
) -> Result<Three> {
    let specs = aten::layer_norm_specs(input, normalized_shape, weight, bias)?;
    forward(input, [weight, bias], eps, specs.each_ref(), [1, normalized_shape.iter().product(), 1])
}

#[op_impl(aten::native_layer_norm_backward, CUDA)]
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
    let taken = Taken::of(grad_out, input, [mean, rstd])?;
    let length = normalized_shape.iter().product();
    let [of_input, of_weight, of_bias] = specs.each_ref();
    let [of_weight, of_bias] = on(input, [of_weight, of_bias])?;
    let of_input = if output_mask[0] {
        taken.input_gradient(weight, of_input, [1, length, 1])?
    } else {
        of_input.clone().on(input.device())?
    };
    if (output_mask[1] || output_mask[2]) && length > 0 {
        taken.columns(mean.geometry().count(), length, false)?.total([&of_weight, &of_bias], None)?;
    }
    Ok((of_input, of_weight, of_bias))
}
