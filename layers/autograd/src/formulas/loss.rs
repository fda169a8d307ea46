//! Gradient formulas of losses, first and second order.

mod ctc;

use aten::Reduction;
use aten::prelude::*;
use dispatch_runtime::prelude::*;

use super::fail_without_formula;
use crate::{Gradient, op_grad};

/// Divides the gradient by its number of elements if the reduction is a mean.
fn divide_if_mean(grad: Tensor, reduction: i64) -> Result<Tensor> {
    match Reduction::from_number(reduction)? {
        Reduction::Mean => &grad / grad.geometry().count(),
        Reduction::None | Reduction::Sum => Ok(grad),
    }
}

/// Expands the gradient of a loss to the sizes of its elements.
fn expand_gradient(grad: &Tensor, this: &Tensor, target: &Tensor, reduction: i64) -> Result<Tensor> {
    let sizes = dispatch_runtime::broadcast([this.sizes(), target.sizes(), grad.sizes()])?;
    divide_if_mean(grad.expand(&sizes)?, reduction)
}

fn multiply_by_weight(loss: &Tensor, weight: Option<&Tensor>) -> Result<Tensor> {
    weight.map_or_else(|| Ok(loss.clone()), |weight| loss * weight)
}

derivatives! {
    mse_loss(grad, this, target; reduction: i64) =>
        aten::mse_loss_backward(grad, this, target, reduction), aten::mse_loss_backward(grad, target, this, reduction);
    smooth_l1_loss(grad, this, target; reduction: i64, beta: f64) =>
        aten::smooth_l1_loss_backward(grad, this, target, reduction, beta),
        aten::smooth_l1_loss_backward(grad, target, this, reduction, beta);
    huber_loss(grad, this, target; reduction: i64, delta: f64) =>
        aten::huber_loss_backward(grad, this, target, reduction, delta),
        aten::huber_loss_backward(grad, target, this, reduction, delta);
    soft_margin_loss(grad, this, target; reduction: i64) =>
        aten::soft_margin_loss_backward(grad, this, target, reduction),
        aten::soft_margin_loss_backward(grad, target, this, reduction);
    binary_cross_entropy(grad, this, target; weight: Option<&Tensor>, reduction: i64) =>
        aten::binary_cross_entropy_backward(grad, this, target, weight, reduction),
        {
            let slope = ((-this)?.log1p()? - this.log()?)?;
            multiply_by_weight(&(expand_gradient(grad, this, target, reduction)? * slope)?, weight)
        },
        expand_gradient(grad, this, target, reduction)? * aten::binary_cross_entropy(this, target, None, 0)?;
}

#[op_grad(aten::mse_loss_backward)]
fn mse_loss_backward(grad: &Tensor, _: ...) -> (impl Gradient, impl Gradient, impl Gradient) {
    let second_derivative = move || divide_if_mean((grad * grad_output)?, reduction)? * 2;
    (move || aten::mse_loss_backward(grad, this, target, reduction), second_derivative, move || -second_derivative()?)
}

#[op_grad(aten::smooth_l1_loss_backward)]
fn smooth_l1_loss_backward(grad: &Tensor, _: ...) -> (impl Gradient, impl Gradient, impl Gradient) {
    let second_derivative = move || {
        let far = (this - target)?.abs()?.ge(beta)?;
        divide_if_mean(((grad * grad_output)? / beta)?.masked_fill(&far, 0)?, reduction)
    };
    (
        move || aten::smooth_l1_loss_backward(grad, this, target, reduction, beta),
        second_derivative,
        move || -second_derivative()?,
    )
}

#[op_grad(aten::huber_loss_backward)]
fn huber_loss_backward(grad: &Tensor, _: ...) -> (impl Gradient, impl Gradient, impl Gradient) {
    let second_derivative = move || {
        let far = (this - target)?.abs()?.gt(delta)?;
        divide_if_mean((grad * grad_output)?.masked_fill(&far, 0)?, reduction)
    };
    (
        move || aten::huber_loss_backward(grad, this, target, reduction, delta),
        second_derivative,
        move || -second_derivative()?,
    )
}

#[op_grad(aten::soft_margin_loss_backward)]
fn soft_margin_loss_backward(grad: &Tensor, _: ...) -> (impl Gradient, impl Gradient, impl Gradient) {
    let both = move || divide_if_mean((grad * grad_output)?, reduction);
    let sigmoid = move || (-(this * target)?)?.sigmoid();
    (
        move || aten::soft_margin_loss_backward(grad, this, target, reduction),
        move || aten::sigmoid_backward(&both()?, &sigmoid()?)? * target.square()?,
        move || {
            let (both, sigmoid) = (both()?, sigmoid()?);
            let straight = (&both * &sigmoid)?;
            (aten::sigmoid_backward(&both, &sigmoid)? * (this * target)?)? - straight
        },
    )
}

#[op_grad(aten::binary_cross_entropy_backward)]
fn binary_cross_entropy_backward(
    grad: &Tensor,
    _: ...
) -> (impl Gradient, impl Gradient, impl Gradient, impl Gradient) {
    let both = move || multiply_by_weight(&divide_if_mean((grad * grad_output)?, reduction)?, weight);
    // The variance is clamped as in the first-order gradient.
    let variance = move || (this * (1 - this)?)?.clamp_min(1e-12);
    (
        move || aten::binary_cross_entropy_backward(grad, this, target, weight, reduction),
        move || {
            let second_derivative = (((this - (target * 2)?)? * this)? + target)?;
            (both()? * second_derivative)? / variance()?.square()?
        },
        move || -(both()? / variance()?)?,
        move || grad * aten::binary_cross_entropy_backward(grad_output, this, target, None, reduction)?,
    )
}

#[op_grad(aten::binary_cross_entropy_with_logits)]
fn binary_cross_entropy_with_logits(
    grad: &Tensor,
    _: ...
) -> (impl Gradient, impl Gradient, impl Gradient, impl Gradient) {
    let all = move || multiply_by_weight(&expand_gradient(grad, this, target, reduction)?, weight);
    (
        move || {
            let sigmoid = this.sigmoid()?;
            let Some(pos_weight) = pos_weight else { return all()? * (sigmoid - target)? };
            let positive = (pos_weight * target)?;
            all()? * ((((&positive + 1)? - target)? * sigmoid)? - positive)?
        },
        move || {
            let Some(pos_weight) = pos_weight else { return -(all()? * this)? };
            all()? * ((-this)?.log_sigmoid()? - (pos_weight * this.log_sigmoid()?)?)?
        },
        move || {
            let loss = aten::binary_cross_entropy_with_logits(this, target, None, pos_weight, 0)?;
            expand_gradient(grad, this, target, reduction)? * loss
        },
        move || -(all()? * (target * this.log_sigmoid()?)?)?,
    )
}

/// Defines the derivatives of negative log-likelihood losses, for rows and for images.
macro_rules! nll_loss_derivatives {
    ($($forward:ident $backward:ident $composite:ident;)*) => {$(
        derivatives! {
            $forward(grad; total_weight: &Tensor, _: ...), not_differentiable(target, total_weight) =>
                aten::$backward(grad, this, target, weight, reduction, ignore_index, total_weight),
                fail_without_formula::<aten::$forward>();
        }

        #[op_grad(aten::$backward, not_differentiable(target, total_weight))]
        fn $backward(grad: &Tensor, _: ...) -> (impl Gradient, impl Gradient, impl Gradient) {
            (
                move || aten::$composite(grad, target, weight, reduction, ignore_index),
                None::<Tensor>,
                fail_without_formula::<aten::$backward>,
            )
        }
    )*};
}

nll_loss_derivatives! {
    nll_loss_forward nll_loss_backward nll_loss;
    nll_loss2d_forward nll_loss2d_backward nll_loss2d;
}

derivatives! {
    multi_margin_loss(grad; _: ...), not_differentiable(target) =>
        aten::multi_margin_loss_backward(grad, this, target, p, margin, weight, reduction),
        fail_without_formula::<aten::multi_margin_loss>();
    multilabel_margin_loss_forward(grad; is_target: &Tensor, _: ...), not_differentiable(target, is_target) =>
        aten::multilabel_margin_loss_backward(grad, this, target, reduction, is_target);
}
