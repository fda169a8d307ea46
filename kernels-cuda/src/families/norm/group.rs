//! CUDA kernels of group norm: a line is a group of channels, and each channel has a weight and a bias.

use aten::GroupNormPlan;

use super::{BackwardInputs, normalize_lines};
use crate::prelude::*;

#[op_impl(aten::native_group_norm, CUDA)]
#[expect(non_snake_case, reason = "the schema's")]
fn group_norm(plan: &GroupNormPlan, out: [&mut Tensor; 3], _: ...) -> Result<()> {
    normalize_lines(out, input, [weight, bias], eps, [group, plan.group_channels, HxW])
}

#[op_impl(aten::native_group_norm_backward, CUDA)]
#[expect(non_snake_case, reason = "the schema's")]
fn group_norm_backward(plan: &GroupNormPlan, [of_input, of_weight, of_bias]: [&mut Tensor; 3], _: ...) -> Result<()> {
    let inputs = BackwardInputs::new(grad_out, input, [mean, rstd])?;
    if output_mask[0] {
        inputs.compute_input_gradient(weight, of_input, [group, plan.group_channels, HxW])?;
    }
    if (output_mask[1] || output_mask[2]) && C > 0 {
        inputs
            .sum_gradients_by_plane([N, C, HxW], [plan.group_channels, N * group])?
            .compute_parameter_gradients([of_weight, of_bias], None)?;
    }
    Ok(())
}
