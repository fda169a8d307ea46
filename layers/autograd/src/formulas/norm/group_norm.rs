//! Gradient formulas of group normalization.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use super::shared_gradients::{NormalizedElements, keep_requested_gradients, requested_gradient_mask};
use crate::formulas::reduction::sums::sum_optional_gradients;
use crate::{Gradient, op_grad};

/// Gradients of group normalization. The returned mean and reciprocal deviation of each group are differentiable too.
#[op_grad(aten::native_group_norm)]
fn native_group_norm(
    grad0: &Tensor,
    grad1: Option<&Tensor>,
    grad2: Option<&Tensor>,
    result1: &Tensor,
    result2: &Tensor,
    needs: &[bool],
    _: ...
) -> Result<(impl Gradient, impl Gradient, impl Gradient)> {
    let mask = requested_gradient_mask(needs);
    let all = aten::native_group_norm_backward(grad0, input, result1, result2, weight, N, C, HxW, group, &mask)?;
    let (mut of_input, of_weight, of_bias) = keep_requested_gradients(all, mask);
    if mask[0] && (grad1.is_some() || grad2.is_some()) {
        let groups = GroupNormSizes { n: N, c: C, inner: HxW, group };
        let normal = groups.normalize(input, result1, result2)?;
        let of_mean = grad1.map(|grad| normal.mean_gradient(&groups.reshape_statistic(grad)?)).transpose()?;
        let of_invstd = grad2.map(|grad| normal.invstd_gradient(&groups.reshape_statistic(grad)?)).transpose()?;
        let statistics =
            sum_optional_gradients(of_mean, of_invstd)?.map(|grad| grad.reshape(input.sizes())).transpose()?;
        of_input = sum_optional_gradients(of_input, statistics)?;
    }
    Ok((of_input, of_weight, of_bias))
}

#[op_grad(aten::native_group_norm_backward, not_differentiable(mean, rstd))]
fn native_group_norm_backward(
    grad0: Option<&Tensor>,
    grad1: Option<&Tensor>,
    grad2: Option<&Tensor>,
    _: ...
) -> Result<(impl Gradient, impl Gradient, impl Gradient)> {
    let groups = GroupNormSizes { n: N, c: C, inner: HxW, group };
    let normal = groups.normalize(input, mean, rstd)?;
    let weight = weight.map(|weight| groups.reshape_channels(weight)).transpose()?;
    let channels = |grad: Option<&Tensor>| grad.map(|grad| groups.reshape_channels(grad)).transpose();
    let outer = [grad0.map(|grad| groups.reshape_elements(grad)).transpose()?, channels(grad1)?, channels(grad2)?];
    let second = normal.second_order_gradients(&groups.reshape_elements(grad_out)?, weight.as_ref(), outer)?;
    let of_weight = move || second.weight.sum_dims([0, 3])?.reshape(C);
    Ok((second.grad.reshape(input.sizes())?, second.input.reshape(input.sizes())?, of_weight))
}

/// The sizes of a group normalization.
#[derive(Clone, Copy)]
struct GroupNormSizes {
    n: i64,
    c: i64,
    inner: i64,
    group: i64,
}

impl GroupNormSizes {
    /// Reshapes a tensor to batch, group, channel in the group, and position in the channel.
    fn reshape_elements(self, tensor: &Tensor) -> Result<Tensor> {
        tensor.reshape([self.n, self.group, self.c / self.group, self.inner])
    }

    fn reshape_statistic(self, tensor: &Tensor) -> Result<Tensor> {
        tensor.reshape([self.n, self.group, 1, 1])
    }

    fn reshape_channels(self, tensor: &Tensor) -> Result<Tensor> {
        tensor.reshape([1, self.group, self.c / self.group, 1])
    }

    fn normalize(self, input: &Tensor, mean: &Tensor, invstd: &Tensor) -> Result<NormalizedElements> {
        NormalizedElements::new(
            &self.reshape_elements(input)?,
            &self.reshape_statistic(mean)?,
            &self.reshape_statistic(invstd)?,
            &[2, 3],
        )
    }
}
