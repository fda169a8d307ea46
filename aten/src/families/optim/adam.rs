//! Steps of Adam and `AdamW` on lists of parameters.

use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

use super::fused_step::{
    check_absent_list, check_loss_scale, check_step_counters, check_step_lists, clone_list, in_full_precision,
    learning_rate, number_of, prepare_gradient, skips_step, write_params,
};
use crate::{add__scalar, addcdiv_, addcmul_, copy_, div__scalar, lerp__scalar, maximum, mul__scalar, sqrt};

/// The numbers of a step of Adam.
#[derive(Clone, Copy, Debug)]
pub struct AdamStep {
    /// The learning rate.
    pub lr: f64,
    /// The decay of the mean of the gradients.
    pub beta1: f64,
    /// The decay of the mean of the squared gradients.
    pub beta2: f64,
    /// The penalty on large parameters.
    pub weight_decay: f64,
    /// A number that keeps the denominator above zero.
    pub eps: f64,
    /// Whether the denominator uses the maximum of the means of squared gradients.
    pub amsgrad: bool,
    /// Whether the step follows the gradient instead of its negative.
    pub maximize: bool,
    /// Whether the penalty shrinks the parameters directly, as in `AdamW`, and is no part of the gradient.
    pub decouples_weight_decay: bool,
}

/// The lists of tensors of a step of Adam, except the parameters.
struct AdamLists<'a> {
    grads: &'a mut [Tensor],
    exp_avgs: &'a mut [Tensor],
    exp_avg_sqs: &'a mut [Tensor],
    max_exp_avg_sqs: &'a mut [Tensor],
    state_steps: &'a [Tensor],
    grad_scale: Option<&'a Tensor>,
}

impl AdamStep {
    /// Returns the factors of the parameter's update after `step` steps: that of the mean of the gradients, and the divisor of the root of
    /// the mean of their squares.
    ///
    /// ```
    /// use aten::AdamStep;
    /// let step = AdamStep {
    ///     lr: 0.1, beta1: 0.5, beta2: 0.75, weight_decay: 0.0, eps: 0.0, amsgrad: false, maximize: false,
    ///     decouples_weight_decay: true,
    /// };
    /// assert_eq!(step.bias_corrections(1.0), (0.2, 0.5));
    /// ```
    #[must_use]
    pub fn bias_corrections(&self, step: f64) -> (f64, f64) {
        (self.lr / (1.0 - self.beta1.powf(step)), (1.0 - self.beta2.powf(step)).sqrt())
    }

    /// Makes the step by operators, for backends without a kernel.
    fn run(&self, params: &mut [Tensor], lists: &mut AdamLists<'_>) -> Result<()> {
        for (i, param) in params.iter_mut().enumerate() {
            let (step_size, root_divisor) = self.bias_corrections(number_of("state_steps", &lists.state_steps[i])?);
            let penalty = if self.decouples_weight_decay { 0.0 } else { self.weight_decay };
            let (grad, grad_scale) = (&mut lists.grads[i], lists.grad_scale);
            let mut tensors = vec![param, &mut lists.exp_avgs[i], &mut lists.exp_avg_sqs[i]];
            if self.amsgrad {
                tensors.push(&mut lists.max_exp_avg_sqs[i]);
            }
            in_full_precision(&mut tensors, |tensors| {
                let [param, mean, mean_of_squares, maximal @ ..] = tensors else { return Ok(()) };
                let grad = prepare_gradient(grad, grad_scale, self.maximize, (penalty, param))?;
                if self.decouples_weight_decay && self.weight_decay != 0.0 {
                    mul__scalar(param, (1.0 - self.lr * self.weight_decay).into())?;
                }
                lerp__scalar(mean, &grad, (1.0 - self.beta1).into())?;
                mul__scalar(mean_of_squares, self.beta2.into())?;
                addcmul_(mean_of_squares, &grad, &grad, (1.0 - self.beta2).into())?;
                let mut denominator = match maximal.first_mut() {
                    Some(maximal) => {
                        copy_(maximal, &maximum(maximal, mean_of_squares)?, false)?;
                        sqrt(maximal)?
                    }
                    None => sqrt(mean_of_squares)?,
                };
                div__scalar(&mut denominator, root_divisor.into())?;
                add__scalar(&mut denominator, self.eps.into(), 1.into())?;
                addcdiv_(param, mean, &denominator, (-step_size).into())
            })?;
        }
        Ok(())
    }
}

macro_rules! define_adam {
    ($($title:literal $decouples_weight_decay:literal: $in_place:ident $plan:ident $in_place_tensor_lr:ident $functional:ident $functional_tensor_lr:ident $out:ident $tensor_lr_out:ident)*) => {$(
        #[doc = concat!("Makes a step of ", $title, ", in place, with one pass over each parameter and its state. Gradients are first divided by")]
        /// `grad_scale`, in place. If `found_inf` is one, the step changes nothing.
        #[op_def($in_place(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs, Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, float lr, float beta1, float beta2, float weight_decay, float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> (), plan, body = CompositeExplicitAutograd)]
        pub fn $in_place(_: ...) -> Result<()> {
            let step = $plan(this, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, grad_scale, found_inf)?.value;
            if skips_step(found_inf)? {
                return Ok(());
            }
            step.run(this, &mut AdamLists { grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, grad_scale })
        }

        #[op_plan($in_place)]
        fn $plan(
            this: &[Tensor],
            grads: &[Tensor],
            exp_avgs: &[Tensor],
            exp_avg_sqs: &[Tensor],
            max_exp_avg_sqs: &[Tensor],
            state_steps: &[Tensor],
            lr: f64,
            beta1: f64,
            beta2: f64,
            weight_decay: f64,
            eps: f64,
            amsgrad: bool,
            maximize: bool,
            grad_scale: Option<&Tensor>,
            found_inf: Option<&Tensor>,
        ) -> Result<Plan<AdamStep, 0>, BadArgument> {
            let lists = [("grads", grads), ("exp_avgs", exp_avgs), ("exp_avg_sqs", exp_avg_sqs), ("max_exp_avg_sqs", max_exp_avg_sqs)];
            check_step_lists(this, &lists[..if amsgrad { 4 } else { 3 }])?;
            if !amsgrad {
                check_absent_list("max_exp_avg_sqs", max_exp_avg_sqs, "`amsgrad` is false")?;
            }
            check_step_counters(this, state_steps)?;
            check_loss_scale(grad_scale, found_inf)?;
            Ok(Plan::new(
                AdamStep { lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, decouples_weight_decay: $decouples_weight_decay },
                [],
            ))
        }

        #[doc = concat!("[`", stringify!($in_place), "`] with the learning rate in a tensor.")]
        #[op_def($in_place.tensor_lr(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs, Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, Tensor lr, float beta1, float beta2, float weight_decay, float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> (), body = CompositeExplicitAutograd)]
        pub fn $in_place_tensor_lr(_: ...) -> Result<()> {
            $in_place(this, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, learning_rate(lr)?, beta1, beta2, weight_decay, eps, amsgrad, maximize, grad_scale, found_inf)
        }

        #[doc = concat!("A step of ", $title, " on copies: returns the parameters, the gradients and the state after it.")]
        #[op_def($functional(Tensor[] self, Tensor[] grads, Tensor[] exp_avgs, Tensor[] exp_avg_sqs, Tensor[] max_exp_avg_sqs, Tensor[] state_steps, *, float lr, float beta1, float beta2, float weight_decay, float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> (Tensor[] self_out, Tensor[] grads_out, Tensor[] exp_avgs_out, Tensor[] exp_avg_sqs_out, Tensor[] max_exp_avg_sqs_out), body = CompositeExplicitAutograd)]
        pub fn $functional(_: ...) -> Result<(Vec<Tensor>, Vec<Tensor>, Vec<Tensor>, Vec<Tensor>, Vec<Tensor>)> {
            let mut results = (clone_list(this)?, clone_list(grads)?, clone_list(exp_avgs)?, clone_list(exp_avg_sqs)?, clone_list(max_exp_avg_sqs)?);
            $in_place(&mut results.0, &mut results.1, &mut results.2, &mut results.3, &mut results.4, state_steps, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, grad_scale, found_inf)?;
            Ok(results)
        }

        #[doc = concat!("[`", stringify!($functional), "`] with the learning rate in a tensor.")]
        #[op_def($functional.tensor_lr(Tensor[] self, Tensor[] grads, Tensor[] exp_avgs, Tensor[] exp_avg_sqs, Tensor[] max_exp_avg_sqs, Tensor[] state_steps, *, Tensor lr, float beta1, float beta2, float weight_decay, float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> (Tensor[] self_out, Tensor[] grads_out, Tensor[] exp_avgs_out, Tensor[] exp_avg_sqs_out, Tensor[] max_exp_avg_sqs_out), body = CompositeExplicitAutograd)]
        pub fn $functional_tensor_lr(_: ...) -> Result<(Vec<Tensor>, Vec<Tensor>, Vec<Tensor>, Vec<Tensor>, Vec<Tensor>)> {
            $functional(this, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, learning_rate(lr)?, beta1, beta2, weight_decay, eps, amsgrad, maximize, grad_scale, found_inf)
        }

        #[doc = concat!("[`", stringify!($functional), "`], which writes the parameters to `out` and changes nothing else.")]
        #[op_def($functional.out(Tensor[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs, Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, float lr, float beta1, float beta2, float weight_decay, float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None, Tensor(a!)[] out) -> (), body = CompositeExplicitAutograd)]
        pub fn $out(_: ...) -> Result<()> {
            let results = $functional(this, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, grad_scale, found_inf)?;
            write_params(out, &results.0)
        }

        #[doc = concat!("[`", stringify!($functional_tensor_lr), "`], which writes the parameters to `out` and changes nothing else.")]
        #[op_def($functional.tensor_lr_out(Tensor[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs, Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, Tensor lr, float beta1, float beta2, float weight_decay, float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None, Tensor(a!)[] out) -> (), body = CompositeExplicitAutograd)]
        pub fn $tensor_lr_out(_: ...) -> Result<()> {
            $out(this, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, learning_rate(lr)?, beta1, beta2, weight_decay, eps, amsgrad, maximize, grad_scale, found_inf, out)
        }
    )*};
}

define_adam! {
    "Adam" false: _fused_adam_ adam_plan _fused_adam__tensor_lr _fused_adam _fused_adam_tensor_lr _fused_adam_out _fused_adam_tensor_lr_out
    "`AdamW`" true: _fused_adamw_ adamw_plan _fused_adamw__tensor_lr _fused_adamw _fused_adamw_tensor_lr _fused_adamw_out _fused_adamw_tensor_lr_out
}
