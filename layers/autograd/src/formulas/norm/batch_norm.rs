//! Gradient formulas of batch normalization.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use super::shared_gradients::{
    NormalizedElements, RequestedGradients, keep_requested_gradients, requested_gradient_mask,
};
use crate::formulas::missing_formula_error;
use crate::{Gradient, op_grad};

/// Defines the derivatives of the variants of batch normalization. Each row lists the arguments between the weight and `eps`, then the
/// running statistics and whether the call trains.
macro_rules! batch_norm_derivatives {
    ($(
        $operator:ident($($argument:ident: $ty:ty),*), not_differentiable($($fixed:ident),*) =>
            $running:expr, $trains:expr;
    )*) => {$(
        #[op_grad(aten::$operator, not_differentiable($($fixed),*))]
        fn $operator(
            grad: &Tensor,
            input: &Tensor,
            weight: Option<&Tensor>,
            $($argument: $ty,)*
            eps: f64,
            result1: &Tensor,
            result2: &Tensor,
            needs: &[bool],
        ) -> Result<(impl Gradient, impl Gradient, impl Gradient)> {
            batch_norm_gradients(grad, input, weight, $running, [result1, result2], $trains, eps, needs)
        }
    )*};
}

batch_norm_derivatives! {
    native_batch_norm(running_mean: Option<&Tensor>, running_var: Option<&Tensor>, training: bool),
        not_differentiable(running_mean, running_var, result1, result2) => [running_mean, running_var], training;
    _native_batch_norm_legit(running_mean: &Tensor, running_var: &Tensor, training: bool),
        not_differentiable(running_mean, running_var, result1, result2) =>
        [Some(running_mean), Some(running_var)], training;
    _native_batch_norm_legit_no_stats(training: bool), not_differentiable(result1, result2) => [None, None], training;
    _batch_norm_with_update(),
        not_differentiable(running_mean, running_var, result1, result2, result3) => [None, None], true;
    _batch_norm_no_update(running_mean: Option<&Tensor>, running_var: Option<&Tensor>),
        not_differentiable(running_mean, running_var, result1, result2, result3) => [running_mean, running_var], false;
    _native_batch_norm_legit_functional(running_mean: &Tensor, running_var: &Tensor, training: bool),
        not_differentiable(running_mean, running_var, result1, result2, result3, result4) =>
        [Some(running_mean), Some(running_var)], training;
    _batch_norm_with_update_functional(),
        not_differentiable(running_mean, running_var, result1, result2, result3, result4, result5) => [None, None], true;
}

/// Returns the gradients of the input, weight and bias of a batch normalization, computed with the running statistics or with those of the
/// batch.
#[expect(clippy::too_many_arguments, reason = "the operators have these arguments")]
fn batch_norm_gradients(
    grad: &Tensor,
    input: &Tensor,
    weight: Option<&Tensor>,
    [running_mean, running_var]: [Option<&Tensor>; 2],
    [mean, invstd]: [&Tensor; 2],
    training: bool,
    eps: f64,
    needs: &[bool],
) -> Result<RequestedGradients> {
    let mask = requested_gradient_mask(needs);
    let (mean, invstd) = (Some(mean), Some(invstd));
    let all = aten::native_batch_norm_backward(
        grad,
        input,
        weight,
        running_mean,
        running_var,
        mean,
        invstd,
        training,
        eps,
        &mask,
    )?;
    Ok(keep_requested_gradients(all, mask))
}

#[op_grad(aten::native_batch_norm_backward, not_differentiable(running_mean, running_var, save_mean, save_invstd))]
fn native_batch_norm_backward(
    grad0: Option<&Tensor>,
    grad1: Option<&Tensor>,
    grad2: Option<&Tensor>,
    _: ...
) -> Result<(impl Gradient, impl Gradient, impl Gradient)> {
    let rank = i64::try_from(input.sizes().len()).unwrap_or(i64::MAX);
    let but_channels: Vec<i64> = (0..rank).filter(|&dim| dim != 1).collect();
    let by_channel = |tensor: &Tensor| {
        let mut sizes = vec![1; input.sizes().len()];
        sizes[1] = -1;
        tensor.reshape(&sizes)
    };
    let invstd = if train { save_invstd.cloned() } else { running_var.map(|var| (var + eps)?.rsqrt()).transpose()? };
    let (Some(mean), Some(invstd)) = (if train { save_mean } else { running_mean }, invstd) else {
        return Err(missing_formula_error::<aten::native_batch_norm_backward>());
    };
    let dims = if train { &but_channels[..] } else { &[] };
    let normal = NormalizedElements::new(input, &by_channel(mean)?, &by_channel(&invstd)?, dims)?;
    let weight = weight.map(by_channel).transpose()?;
    // A result that is not requested has no elements, and neither has its gradient.
    let [grad0, grad1, grad2] = [(grad0, 0), (grad1, 1), (grad2, 2)].map(|(grad, at)| grad.filter(|_| output_mask[at]));
    let outer = [grad0.cloned(), grad1.map(by_channel).transpose()?, grad2.map(by_channel).transpose()?];
    let second = normal.second_order_gradients(grad_out, weight.as_ref(), outer)?;
    let of_weight = move || second.weight.sum_dims(&but_channels);
    Ok((second.grad, second.input, of_weight))
}
