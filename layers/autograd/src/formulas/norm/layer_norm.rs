//! Gradient formulas of layer normalization.

use dispatch_runtime::prelude::*;

use super::shared_gradients::{NormalizedElements, keep_requested_gradients, requested_gradient_mask};
use crate::{Gradient, op_grad};

#[op_grad(aten::native_layer_norm, not_differentiable(result1, result2))]
fn native_layer_norm(
    grad: &Tensor,
    result1: &Tensor,
    result2: &Tensor,
    needs: &[bool],
    _: ...
) -> Result<(impl Gradient, impl Gradient, impl Gradient)> {
    let mask = requested_gradient_mask(needs);
    let all = aten::native_layer_norm_backward(grad, input, normalized_shape, result1, result2, weight, bias, &mask)?;
    Ok(keep_requested_gradients(all, mask))
}

#[op_grad(aten::native_layer_norm_backward, not_differentiable(mean, rstd))]
fn native_layer_norm_backward(
    grad0: Option<&Tensor>,
    grad1: Option<&Tensor>,
    grad2: Option<&Tensor>,
    _: ...
) -> Result<(impl Gradient, impl Gradient, impl Gradient, impl Gradient)> {
    let dims: Vec<i64> = (1..).take(normalized_shape.len()).map(|back: i64| -back).collect();
    let normal = NormalizedElements::new(input, mean, rstd, &dims)?;
    let second = normal.second_order_gradients(grad_out, weight, [grad0.cloned(), grad1.cloned(), grad2.cloned()])?;
    Ok((second.grad, second.input, second.weight, None::<Tensor>))
}
