//! CUDA kernels of layer norm: a line is the last dimensions, and each of its elements has a weight and a bias.

use aten::LayerNormPlan;

use super::{BackwardInputs, normalize_lines};
use crate::prelude::*;

#[op_impl(aten::native_layer_norm, CUDA)]
fn layer_norm(plan: &LayerNormPlan, out: [&mut Tensor; 3], _: ...) -> Result<()> {
    normalize_lines(out, input, [weight, bias], eps, [1, plan.columns, 1])
}

#[op_impl(aten::native_layer_norm_backward, CUDA)]
fn layer_norm_backward(plan: &LayerNormPlan, [of_input, of_weight, of_bias]: [&mut Tensor; 3], _: ...) -> Result<()> {
    let (inputs, length) = (BackwardInputs::new(grad_out, input, [mean, rstd])?, plan.columns);
    if output_mask[0] {
        inputs.compute_input_gradient(weight, of_input, [1, length, 1])?;
    }
    if (output_mask[1] || output_mask[2]) && length > 0 {
        inputs
            .sum_gradients_by_column(mean.geometry().count(), length, false)?
            .compute_parameter_gradients([of_weight, of_bias], None)?;
    }
    Ok(())
}
