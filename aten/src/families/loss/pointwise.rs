//! Pointwise losses: each element's loss depends on that element only.

use std::f64::consts::PI;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Promotion};

use super::{Reduction, loss_plan, reduce_losses, unreduced_loss_spec};
use crate::{
    abs, add, add_scalar, check_number_at_least, exp, exp_, le_scalar, log, log1p_, masked_fill_scalar, mul, mul_,
    mul_scalar, neg, sub, xlogy,
};

const SCALAR_ONE: Scalar = Scalar::Int(1);
const SCALAR_ZERO: Scalar = Scalar::Int(0);

/// Computes `(self - target)^2`.
#[op_def("mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", plan, out = "out")]
pub fn mse_loss(_: ...) -> Result<Tensor>;

/// Computes `|self - target|`.
#[op_def(
    "l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    check = crate::check_broadcast([("self", this), ("target", target)])
)]
pub fn l1_loss(this: &Tensor, target: &Tensor, reduction: i64) -> Result<Tensor> {
    reduce_losses(abs(&sub(this, target, Scalar::Int(1))?)?, reduction)
}

/// Computes `(self - target)^2 / (2 * beta)` where the two are closer than `beta`, and `|self - target| - beta / 2` elsewhere.
#[op_def("smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.) -> Tensor", plan, out = "out")]
pub fn smooth_l1_loss(_: ...) -> Result<Tensor>;

/// Computes `(self - target)^2 / 2` where the two are as close as `delta`, and `delta * (|self - target| - delta / 2)` elsewhere.
#[op_def("huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> Tensor", plan, out = "out")]
pub fn huber_loss(_: ...) -> Result<Tensor>;

/// Computes `log(1 + exp(-target * self))`.
#[op_def(
    "soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    out = "out", body = CompositeExplicitAutograd,
    check = crate::check_broadcasts_to_tensor(("target", target), ("self", this))
)]
pub fn soft_margin_loss(this: &Tensor, target: &Tensor, reduction: i64) -> Result<Tensor> {
    let mut losses = neg(this)?;
    mul_(&mut losses, target)?;
    exp_(&mut losses)?;
    log1p_(&mut losses)?;
    reduce_losses(losses, reduction)
}

/// Computes `-weight * (target * log(self) + (1 - target) * log(1 - self))`, with logarithms of at least -100.
#[op_def(
    "binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor",
    plan,
    out = "out"
)]
pub fn binary_cross_entropy(_: ...) -> Result<Tensor>;

/// Computes `binary_cross_entropy` of `sigmoid(self)` without loss of precision. `pos_weight` multiplies the term with `target`.
#[op_def(
    "binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int reduction=1) -> Tensor",
    plan,
    out = "out"
)]
pub fn binary_cross_entropy_with_logits(_: ...) -> Result<Tensor>;

/// Computes `target * (log(target) - self)`, or `exp(target) * (target - self)` with `log_target`.
#[op_def(
    "kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor",
    check = crate::check_broadcast([("self", this), ("target", target)])
)]
pub fn kl_div(this: &Tensor, target: &Tensor, reduction: i64, log_target: bool) -> Result<Tensor> {
    let one = Scalar::Int(1);
    reduce_losses(
        if log_target {
            mul(&exp(target)?, &sub(target, this, one)?)?
        } else {
            sub(&xlogy(target, target)?, &mul(target, this)?, one)?
        },
        reduction,
    )
}

/// Computes the gradient of [`mse_loss`](fn@crate::mse_loss).
#[op_def("mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor", shape = pointwise, out = "grad_input"(grad_input))]
pub fn mse_loss_backward(_: ...) -> Result<Tensor>;

/// Computes the gradient of [`smooth_l1_loss`](fn@crate::smooth_l1_loss).
#[op_def("smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float beta) -> Tensor", shape = pointwise, out = "grad_input"(grad_input))]
pub fn smooth_l1_loss_backward(_: ...) -> Result<Tensor>;

/// Computes the gradient of [`huber_loss`](fn@crate::huber_loss).
#[op_def("huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float delta) -> Tensor", shape = pointwise, out = "out"(grad_input))]
pub fn huber_loss_backward(_: ...) -> Result<Tensor>;

/// Computes the gradient of [`soft_margin_loss`](fn@crate::soft_margin_loss).
#[op_def("soft_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor", shape = pointwise, out = "grad_input"(grad_input))]
pub fn soft_margin_loss_backward(_: ...) -> Result<Tensor>;

/// Computes the gradient of [`binary_cross_entropy`](fn@crate::binary_cross_entropy).
#[op_def(
    "binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor",
    plan,
    out = "grad_input"(grad_input)
)]
pub fn binary_cross_entropy_backward(_: ...) -> Result<Tensor>;

#[op_plan(mse_loss)]
fn mse_loss_plan(this: &Tensor, target: &Tensor, reduction: i64) -> Result<Plan<Reduction>, BadArgument> {
    loss_plan(this, target, reduction)
}

#[op_plan(smooth_l1_loss)]
fn smooth_l1_loss_plan(_: ...) -> Result<Plan<Reduction>, BadArgument> {
    check_number_at_least("beta", beta, 0.0)?;
    loss_plan(this, target, reduction)
}

#[op_plan(huber_loss)]
fn huber_loss_plan(this: &Tensor, target: &Tensor, reduction: i64, delta: f64) -> Result<Plan<Reduction>, BadArgument> {
    check_number_at_least("delta", delta, f64::MIN_POSITIVE)?;
    let computed = Promotion::Common.result_dtype(&[this, target]);
    if !computed.can_cast(this.dtype()) {
        return Err(BadArgument::dtype("self", this.dtype(), DTypes::CastableFrom(computed)).because("the loss is"));
    }
    let mut plan = loss_plan(this, target, reduction)?;
    plan.outputs[0].dtype = this.dtype();
    Ok(plan)
}

#[op_plan(binary_cross_entropy)]
fn binary_cross_entropy_plan(_: ...) -> Result<Plan<Reduction>, BadArgument> {
    check_bce_sizes(this, target, [("weight", weight)])?;
    loss_plan(this, target, reduction)
}

#[op_plan(binary_cross_entropy_with_logits)]
fn binary_cross_entropy_with_logits_plan(_: ...) -> Result<Plan<Reduction>, BadArgument> {
    check_bce_sizes(this, target, [("weight", weight), ("pos_weight", pos_weight)])?;
    loss_plan(this, target, reduction)
}

/// Plans the gradient of binary cross entropy. The plan's value is the factor of each element's gradient.
#[op_plan(binary_cross_entropy_backward)]
fn binary_cross_entropy_backward_plan(_: ...) -> Result<Plan<f64>, BadArgument> {
    check_bce_sizes(this, target, [("grad_output", Some(grad_output)), ("weight", weight)])?;
    Ok(Plan::new(Reduction::from_number(reduction)?.gradient_scale(this), [unreduced_loss_spec(this, target)?]))
}

/// Refuses a target that does not have the input's sizes, and weights that do not broadcast to them.
fn check_bce_sizes<const N: usize>(
    this: &Tensor,
    target: &Tensor,
    weights: [(&'static str, Option<&Tensor>); N],
) -> Result<(), BadArgument> {
    if target.sizes() != this.sizes() {
        return Err(BadArgument::sizes("target", target.sizes(), this.sizes()).like("self"));
    }
    for (name, weight) in weights {
        let Some(weight) = weight else { continue };
        let sizes = dispatch_runtime::broadcast([this.sizes(), weight.sizes()]);
        if sizes.is_ok_and(|sizes| sizes[..] == *this.sizes()) {
            continue;
        }
        return Err(BadArgument::sizes(name, weight.sizes(), format!("sizes that broadcast to {:?}", this.sizes())));
    }
    Ok(())
}

/// Computes the negative log-likelihood of counts with the Poisson rate `input`, or `exp(input)` with `log_input`.
///
/// `full` adds Stirling's term.
#[op_def(
    "poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) -> Tensor",
    check = crate::check_broadcast([("input", input), ("target", target)])
)]
pub fn poisson_nll_loss(_: ...) -> Result<Tensor> {
    let mut loss = if log_input {
        sub(&exp(input)?, &mul(target, input)?, SCALAR_ONE)?
    } else {
        sub(input, &mul(target, &log(&add_scalar(input, eps.into(), SCALAR_ONE)?)?)?, SCALAR_ONE)?
    };
    if full {
        let half = mul_scalar(&log(&mul_scalar(target, (2.0 * PI).into())?)?, 0.5.into())?;
        let stirling = add(&sub(&mul(target, &log(target)?)?, target, SCALAR_ONE)?, &half, SCALAR_ONE)?;
        loss = add(&loss, &masked_fill_scalar(&stirling, &le_scalar(target, SCALAR_ONE)?, SCALAR_ZERO)?, SCALAR_ONE)?;
    }
    reduce_losses(loss, reduction)
}
