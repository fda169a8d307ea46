//! Gradient formulas of layer normalization.

use dispatch_runtime::prelude::*;

use super::normalized::{Normalized, request_mask, select_requested};
use crate::{Gradient, op_grad};

#[op_grad(aten::native_layer_norm, not_differentiable(result1, result2))]
fn layer_norm(
    grad: &Tensor,
    result1: &Tensor,
    result2: &Tensor,
    needs: &[bool],
    _: ...
) -> Result<(impl Gradient, impl Gradient, impl Gradient)> {
    let mask = request_mask(needs);
    let all = aten::native_layer_norm_backward(grad, input, normalized_shape, result1, result2, weight, bias, &mask)?;
    Ok(select_requested(all, mask))
}

#[op_grad(aten::native_layer_norm_backward, not_differentiable(mean, rstd))]
fn layer_norm_backward(
    grad0: Option<&Tensor>,
    grad1: Option<&Tensor>,
    grad2: Option<&Tensor>,
    _: ...
) -> Result<(impl Gradient, impl Gradient, impl Gradient, impl Gradient)> {
    let dims: Vec<i64> = (1..).take(normalized_shape.len()).map(|back: i64| -back).collect();
    let normal = Normalized::new(input, mean, rstd, &dims)?;
    let second = normal.second_order(grad_out, weight, [grad0.cloned(), grad1.cloned(), grad2.cloned()])?;
    Ok((second.grad, second.input, second.weight, None::<Tensor>))
}
