//! Steps of stochastic gradient descent on lists of parameters.

use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

use super::fused_step::{
    check_absent_list, check_loss_scale, check_step_lists, clone_list, in_full_precision, learning_rate,
    prepare_gradient, skips_step, write_params,
};
use crate::{add, add_, copy_, mul__scalar};

/// The numbers of a step of gradient descent.
#[derive(Clone, Copy, Debug)]
pub struct SgdStep {
    /// The penalty on large parameters.
    pub weight_decay: f64,
    /// The decay of the momentum; zero for none.
    pub momentum: f64,
    /// The learning rate.
    pub lr: f64,
    /// The part of a gradient that is not added to the momentum.
    pub dampening: f64,
    /// Whether the step looks ahead by the momentum, as Nesterov's.
    pub nesterov: bool,
    /// Whether the step follows the gradient instead of its negative.
    pub maximize: bool,
    /// Whether the momentum starts as the gradient.
    pub is_first_step: bool,
}

impl SgdStep {
    /// Makes the step by operators, for backends without a kernel.
    fn run(
        &self,
        params: &mut [Tensor],
        grads: &mut [Tensor],
        momenta: &mut [Tensor],
        grad_scale: Option<&Tensor>,
    ) -> Result<()> {
        for (i, param) in params.iter_mut().enumerate() {
            let mut tensors = vec![param];
            if self.momentum != 0.0 {
                tensors.push(&mut momenta[i]);
            }
            in_full_precision(&mut tensors, |tensors| {
                let [param, momentum @ ..] = tensors else { return Ok(()) };
                let mut grad = prepare_gradient(&mut grads[i], grad_scale, self.maximize, (self.weight_decay, param))?;
                if let Some(momentum) = momentum.first_mut() {
                    if self.is_first_step {
                        copy_(momentum, &grad, false)?;
                    } else {
                        mul__scalar(momentum, self.momentum.into())?;
                        add_(momentum, &grad, (1.0 - self.dampening).into())?;
                    }
                    grad = if self.nesterov { add(&grad, momentum, self.momentum.into())? } else { momentum.clone() };
                }
                add_(param, &grad, (-self.lr).into())
            })?;
        }
        Ok(())
    }
}

/// Makes a step of gradient descent, in place, with one pass over each parameter and its momentum. Gradients are first divided by
/// `grad_scale`, in place. If `found_inf` is one, the step changes nothing.
#[op_def(
    "_fused_sgd_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] momentum_buffer_list, *, float weight_decay, float momentum, float lr, float dampening, bool nesterov, bool maximize, bool is_first_step, Tensor? grad_scale=None, Tensor? found_inf=None) -> ()",
    plan, body = CompositeExplicitAutograd
)]
pub fn _fused_sgd_(_: ...) -> Result<()> {
    let step = sgd_plan(
        this,
        grads,
        momentum_buffer_list,
        weight_decay,
        momentum,
        lr,
        dampening,
        nesterov,
        maximize,
        is_first_step,
        grad_scale,
        found_inf,
    )?
    .value;
    if skips_step(found_inf)? { Ok(()) } else { step.run(this, grads, momentum_buffer_list, grad_scale) }
}

#[op_plan(_fused_sgd_)]
fn sgd_plan(
    this: &[Tensor],
    grads: &[Tensor],
    momentum_buffer_list: &[Tensor],
    weight_decay: f64,
    momentum: f64,
    lr: f64,
    dampening: f64,
    nesterov: bool,
    maximize: bool,
    is_first_step: bool,
    grad_scale: Option<&Tensor>,
    found_inf: Option<&Tensor>,
) -> Result<Plan<SgdStep, 0>, BadArgument> {
    let lists = [("grads", grads), ("momentum_buffer_list", momentum_buffer_list)];
    check_step_lists(this, &lists[..if momentum == 0.0 { 1 } else { 2 }])?;
    if momentum == 0.0 {
        check_absent_list("momentum_buffer_list", momentum_buffer_list, "`momentum` is zero")?;
    }
    check_loss_scale(grad_scale, found_inf)?;
    Ok(Plan::new(SgdStep { weight_decay, momentum, lr, dampening, nesterov, maximize, is_first_step }, []))
}

/// [`_fused_sgd_`] with the learning rate in a tensor.
#[op_def(
    "_fused_sgd_.tensor_lr(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] momentum_buffer_list, *, float weight_decay, float momentum, Tensor lr, float dampening, bool nesterov, bool maximize, bool is_first_step, Tensor? grad_scale=None, Tensor? found_inf=None) -> ()",
    body = CompositeExplicitAutograd
)]
pub fn _fused_sgd__tensor_lr(_: ...) -> Result<()> {
    let lr = learning_rate(lr)?;
    _fused_sgd_(
        this,
        grads,
        momentum_buffer_list,
        weight_decay,
        momentum,
        lr,
        dampening,
        nesterov,
        maximize,
        is_first_step,
        grad_scale,
        found_inf,
    )
}

/// A step of gradient descent on copies: returns the parameters, the gradients and the momentum after it.
#[op_def(
    "_fused_sgd(Tensor[] self, Tensor[] grads, Tensor[] momentum_buffer_list, *, float weight_decay, float momentum, float lr, float dampening, bool nesterov, bool maximize, bool is_first_step, Tensor? grad_scale=None, Tensor? found_inf=None) -> (Tensor[] self_out, Tensor[] grads_out, Tensor[] momentum_buffer_list_out)",
    body = CompositeExplicitAutograd
)]
pub fn _fused_sgd(_: ...) -> Result<(Vec<Tensor>, Vec<Tensor>, Vec<Tensor>)> {
    let mut results = (clone_list(this)?, clone_list(grads)?, clone_list(momentum_buffer_list)?);
    _fused_sgd_(
        &mut results.0,
        &mut results.1,
        &mut results.2,
        weight_decay,
        momentum,
        lr,
        dampening,
        nesterov,
        maximize,
        is_first_step,
        grad_scale,
        found_inf,
    )?;
    Ok(results)
}

/// [`_fused_sgd`] with the learning rate in a tensor.
#[op_def(
    "_fused_sgd.tensor_lr(Tensor[] self, Tensor[] grads, Tensor[] momentum_buffer_list, *, float weight_decay, float momentum, Tensor lr, float dampening, bool nesterov, bool maximize, bool is_first_step, Tensor? grad_scale=None, Tensor? found_inf=None) -> (Tensor[] self_out, Tensor[] grads_out, Tensor[] momentum_buffer_list_out)",
    body = CompositeExplicitAutograd
)]
pub fn _fused_sgd_tensor_lr(_: ...) -> Result<(Vec<Tensor>, Vec<Tensor>, Vec<Tensor>)> {
    let lr = learning_rate(lr)?;
    _fused_sgd(
        this,
        grads,
        momentum_buffer_list,
        weight_decay,
        momentum,
        lr,
        dampening,
        nesterov,
        maximize,
        is_first_step,
        grad_scale,
        found_inf,
    )
}

/// [`_fused_sgd`], which writes the parameters to `out` and changes nothing else.
#[op_def(
    "_fused_sgd.out(Tensor[] self, Tensor(b!)[] grads, Tensor(c!)[] momentum_buffer_list, *, float weight_decay, float momentum, float lr, float dampening, bool nesterov, bool maximize, bool is_first_step, Tensor? grad_scale=None, Tensor? found_inf=None, Tensor(a!)[] out) -> ()",
    body = CompositeExplicitAutograd
)]
pub fn _fused_sgd_out(_: ...) -> Result<()> {
    let (params, ..) = _fused_sgd(
        this,
        grads,
        momentum_buffer_list,
        weight_decay,
        momentum,
        lr,
        dampening,
        nesterov,
        maximize,
        is_first_step,
        grad_scale,
        found_inf,
    )?;
    write_params(out, &params)
}

/// [`_fused_sgd_tensor_lr`], which writes the parameters to `out` and changes nothing else.
#[op_def(
    "_fused_sgd.tensor_lr_out(Tensor[] self, Tensor(b!)[] grads, Tensor(c!)[] momentum_buffer_list, *, float weight_decay, float momentum, Tensor lr, float dampening, bool nesterov, bool maximize, bool is_first_step, Tensor? grad_scale=None, Tensor? found_inf=None, Tensor(a!)[] out) -> ()",
    body = CompositeExplicitAutograd
)]
pub fn _fused_sgd_tensor_lr_out(_: ...) -> Result<()> {
    let lr = learning_rate(lr)?;
    _fused_sgd_out(
        this,
        grads,
        momentum_buffer_list,
        weight_decay,
        momentum,
        lr,
        dampening,
        nesterov,
        maximize,
        is_first_step,
        grad_scale,
        found_inf,
        out,
    )
}
