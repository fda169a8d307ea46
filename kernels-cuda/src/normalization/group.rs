//! Lines are groups of channels, and every channel has parameters.

use dispatch_runtime::{Result, Tensor, op_impl};

use super::{Taken, Three, forward};
use crate::reduce::on;

#[op_impl(aten::native_group_norm, CUDA)]
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
    let specs = aten::group_norm_specs(input, weight, bias, [N, C, HxW, group])?;
    forward(input, [weight, bias], eps, specs.each_ref(), [group, C / group, HxW])
}

#[op_impl(aten::native_group_norm_backward, CUDA)]
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
    let taken = Taken::of(grad_out, input, [mean, rstd])?;
    let [of_input, of_weight, of_bias] = specs.each_ref();
    let [of_weight, of_bias] = on(input, [of_weight, of_bias])?;
    let of_input = if output_mask[0] {
        taken.input_gradient(weight, of_input, [group, C / group, HxW])?
    } else {
        of_input.clone().on(input.device())?
    };
    if (output_mask[1] || output_mask[2]) && C > 0 {
        taken.planes([N, C, HxW], [C / group, N * group])?.total([&of_weight, &of_bias], None)?;
    }
    Ok((of_input, of_weight, of_bias))
}
