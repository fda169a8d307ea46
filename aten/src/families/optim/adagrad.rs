//! Steps of Adagrad on lists of parameters.

use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

use super::fused_step::{
    check_loss_scale, check_step_counters, check_step_lists, clone_list, in_full_precision, learning_rate, number_of,
    prepare_gradient, skips_step, write_params,
};
use crate::{add__scalar, addcdiv_, addcmul_, sqrt};

/// The numbers of a step of Adagrad.
#[derive(Clone, Copy, Debug)]
pub struct AdagradStep {
    /// The learning rate of the first step.
    pub lr: f64,
    /// The decay of the learning rate with the number of steps.
    pub lr_decay: f64,
    /// The penalty on large parameters.
    pub weight_decay: f64,
    /// A number that keeps the denominator above zero.
    pub eps: f64,
    /// Whether the step follows the gradient instead of its negative.
    pub maximize: bool,
}

impl AdagradStep {
    /// Returns the learning rate of a step; the first has the number one.
    ///
    /// ```
    /// use aten::AdagradStep;
    /// let step = AdagradStep { lr: 1.0, lr_decay: 0.5, weight_decay: 0.0, eps: 0.0, maximize: false };
    /// assert_eq!(step.learning_rate(3.0), 0.5);
    /// ```
    #[must_use]
    pub fn learning_rate(&self, step: f64) -> f64 {
        self.lr / (1.0 + (step - 1.0) * self.lr_decay)
    }

    /// Makes the step by operators, for backends without a kernel.
    fn run(
        &self,
        params: &mut [Tensor],
        grads: &mut [Tensor],
        sums: &mut [Tensor],
        counters: &[Tensor],
        grad_scale: Option<&Tensor>,
    ) -> Result<()> {
        for (i, param) in params.iter_mut().enumerate() {
            let lr = self.learning_rate(number_of("state_steps", &counters[i])?);
            in_full_precision(&mut [param, &mut sums[i]], |tensors| {
                let [param, sum] = tensors else { return Ok(()) };
                let grad = prepare_gradient(&mut grads[i], grad_scale, self.maximize, (self.weight_decay, param))?;
                addcmul_(sum, &grad, &grad, 1.0.into())?;
                let mut denominator = sqrt(sum)?;
                add__scalar(&mut denominator, self.eps.into(), 1.into())?;
                addcdiv_(param, &grad, &denominator, (-lr).into())
            })?;
        }
        Ok(())
    }
}

/// Makes a step of Adagrad, in place, with one pass over each parameter and its sum of squared gradients. Gradients are first divided by
/// `grad_scale`, in place. If `found_inf` is one, the step changes nothing.
#[op_def(
    "_fused_adagrad_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] state_sums, Tensor(d!)[] state_steps, *, float lr, float lr_decay, float weight_decay, float eps, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> ()",
    plan, body = CompositeExplicitAutograd
)]
pub fn _fused_adagrad_(_: ...) -> Result<()> {
    let step = adagrad_plan(
        this,
        grads,
        state_sums,
        state_steps,
        lr,
        lr_decay,
        weight_decay,
        eps,
        maximize,
        grad_scale,
        found_inf,
    )?
    .value;
    if skips_step(found_inf)? { Ok(()) } else { step.run(this, grads, state_sums, state_steps, grad_scale) }
}

#[op_plan(_fused_adagrad_)]
fn adagrad_plan(
    this: &[Tensor],
    grads: &[Tensor],
    state_sums: &[Tensor],
    state_steps: &[Tensor],
    lr: f64,
    lr_decay: f64,
    weight_decay: f64,
    eps: f64,
    maximize: bool,
    grad_scale: Option<&Tensor>,
    found_inf: Option<&Tensor>,
) -> Result<Plan<AdagradStep, 0>, BadArgument> {
    check_step_lists(this, &[("grads", grads), ("state_sums", state_sums)])?;
    check_step_counters(this, state_steps)?;
    check_loss_scale(grad_scale, found_inf)?;
    Ok(Plan::new(AdagradStep { lr, lr_decay, weight_decay, eps, maximize }, []))
}

/// [`_fused_adagrad_`] with the learning rate in a tensor.
#[op_def(
    "_fused_adagrad_.tensor_lr(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] state_sums, Tensor[] state_steps, *, Tensor lr, float lr_decay, float weight_decay, float eps, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> ()",
    body = CompositeExplicitAutograd
)]
pub fn _fused_adagrad__tensor_lr(_: ...) -> Result<()> {
    let (lr, mut counters) = (learning_rate(lr)?, clone_list(state_steps)?);
    _fused_adagrad_(
        this,
        grads,
        state_sums,
        &mut counters,
        lr,
        lr_decay,
        weight_decay,
        eps,
        maximize,
        grad_scale,
        found_inf,
    )
}

/// A step of Adagrad on copies: returns the parameters, the gradients and the state after it.
#[op_def(
    "_fused_adagrad(Tensor[] self, Tensor[] grads, Tensor[] state_sums, Tensor[] state_steps, *, float lr, float lr_decay, float weight_decay, float eps, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> (Tensor[] self_out, Tensor[] grads_out, Tensor[] state_sums_out, Tensor[] state_steps_out)",
    body = CompositeExplicitAutograd
)]
pub fn _fused_adagrad(_: ...) -> Result<(Vec<Tensor>, Vec<Tensor>, Vec<Tensor>, Vec<Tensor>)> {
    let mut results = (clone_list(this)?, clone_list(grads)?, clone_list(state_sums)?, clone_list(state_steps)?);
    _fused_adagrad_(
        &mut results.0,
        &mut results.1,
        &mut results.2,
        &mut results.3,
        lr,
        lr_decay,
        weight_decay,
        eps,
        maximize,
        grad_scale,
        found_inf,
    )?;
    Ok(results)
}

/// [`_fused_adagrad`] with the learning rate in a tensor. The numbers of steps are not returned.
#[op_def(
    "_fused_adagrad.tensor_lr(Tensor[] self, Tensor[] grads, Tensor[] state_sums, Tensor[] state_steps, *, Tensor lr, float lr_decay, float weight_decay, float eps, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> (Tensor[] self_out, Tensor[] grads_out, Tensor[] state_sums_out)",
    body = CompositeExplicitAutograd
)]
pub fn _fused_adagrad_tensor_lr(_: ...) -> Result<(Vec<Tensor>, Vec<Tensor>, Vec<Tensor>)> {
    let lr = learning_rate(lr)?;
    let (params, grads, sums, _) = _fused_adagrad(
        this,
        grads,
        state_sums,
        state_steps,
        lr,
        lr_decay,
        weight_decay,
        eps,
        maximize,
        grad_scale,
        found_inf,
    )?;
    Ok((params, grads, sums))
}

/// [`_fused_adagrad`], which writes the parameters to `out` and changes nothing else.
#[op_def(
    "_fused_adagrad.out(Tensor[] self, Tensor(b!)[] grads, Tensor(c!)[] state_sums, Tensor(d!)[] state_steps, *, float lr, float lr_decay, float weight_decay, float eps, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None, Tensor(a!)[] out) -> ()",
    body = CompositeExplicitAutograd
)]
pub fn _fused_adagrad_out(_: ...) -> Result<()> {
    let (params, ..) = _fused_adagrad(
        this,
        grads,
        state_sums,
        state_steps,
        lr,
        lr_decay,
        weight_decay,
        eps,
        maximize,
        grad_scale,
        found_inf,
    )?;
    write_params(out, &params)
}

/// [`_fused_adagrad_tensor_lr`], which writes the parameters to `out` and changes nothing else.
#[op_def(
    "_fused_adagrad.tensor_lr_out(Tensor[] self, Tensor(b!)[] grads, Tensor(c!)[] state_sums, Tensor[] state_steps, *, Tensor lr, float lr_decay, float weight_decay, float eps, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None, Tensor(a!)[] out) -> ()",
    body = CompositeExplicitAutograd
)]
pub fn _fused_adagrad_tensor_lr_out(_: ...) -> Result<()> {
    let (params, ..) = _fused_adagrad_tensor_lr(
        this,
        grads,
        state_sums,
        state_steps,
        lr,
        lr_decay,
        weight_decay,
        eps,
        maximize,
        grad_scale,
        found_inf,
    )?;
    write_params(out, &params)
}
