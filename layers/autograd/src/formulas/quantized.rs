//! Gradient formulas of quantised models.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::{Gradient, not_differentiable, op_grad};

derivatives! {
    fake_quantize_per_tensor_affine_cachemask(grad; result1: &Tensor), not_differentiable(result1) =>
        aten::fake_quantize_per_tensor_affine_cachemask_backward(grad, result1);
    _fake_quantize_per_tensor_affine_cachemask_tensor_qparams(grad; result1: &Tensor),
        not_differentiable(scale, zero_point, fake_quant_enabled, result1) =>
        aten::fake_quantize_per_tensor_affine_cachemask_backward(grad, result1);
    fake_quantize_per_channel_affine_cachemask(grad; result1: &Tensor), not_differentiable(scale, zero_point, result1) =>
        aten::fake_quantize_per_channel_affine_cachemask_backward(grad, result1);
    _fused_moving_avg_obs_fq_helper_functional(grad; result1: &Tensor),
        not_differentiable(
            observer_on, fake_quant_on, running_min, running_max, scale, zero_point, result1, result2, result3, result4, result5
        ) =>
        aten::fake_quantize_per_tensor_affine_cachemask_backward(grad, result1);
    _fused_moving_avg_obs_fq_helper(grad; result1: &Tensor),
        not_differentiable(observer_on, fake_quant_on, running_min, running_max, scale, zero_point, result1) =>
        aten::fake_quantize_per_tensor_affine_cachemask_backward(grad, result1);
}

#[op_grad(aten::_fake_quantize_learnable_per_tensor_affine)]
fn _fake_quantize_learnable_per_tensor_affine(
    grad: &Tensor,
    _: ...
) -> Result<(impl Gradient, impl Gradient, impl Gradient)> {
    let (of_this, of_scale, of_zero_point) = aten::_fake_quantize_learnable_per_tensor_affine_backward(
        grad,
        this,
        scale,
        zero_point,
        quant_min,
        quant_max,
        grad_factor,
    )?;
    // The operator's gradient of `bfloat16` elements is in single precision.
    Ok((of_this.to(this.dtype())?, of_scale, of_zero_point))
}

#[op_grad(aten::_fake_quantize_learnable_per_channel_affine)]
fn _fake_quantize_learnable_per_channel_affine(
    grad: &Tensor,
    _: ...
) -> Result<(impl Gradient, impl Gradient, impl Gradient)> {
    let (of_this, of_scale, of_zero_point) = aten::_fake_quantize_learnable_per_channel_affine_backward(
        grad,
        this,
        scale,
        zero_point,
        axis,
        quant_min,
        quant_max,
        grad_factor,
    )?;
    // The operator's gradient of `bfloat16` elements is in single precision.
    Ok((of_this.to(this.dtype())?, of_scale, of_zero_point))
}

/// The gradient of an operand is the product of the result's gradient with the other operand, in the same groups.
#[op_grad(aten::_grouped_mm, not_differentiable(offs, bias))]
fn _grouped_mm(grad: &Tensor, this: &Tensor, mat2: &Tensor, offs: Option<&Tensor>) -> (impl Gradient, impl Gradient) {
    (
        move || aten::_grouped_mm(grad, &aten::transpose_int(mat2, -2, -1)?, offs, None, None),
        move || aten::_grouped_mm(&aten::transpose_int(this, -2, -1)?, grad, offs, None, None),
    )
}

// Integers, packed weights, and the choice of scales.
not_differentiable!(
    aten::_int_mm,
    aten::_convert_weight_to_int4pack_for_cpu,
    aten::_dyn_quant_pack_4bit_weight,
    aten::_choose_qparams_per_tensor,
    aten::choose_qparams_optimized
);
