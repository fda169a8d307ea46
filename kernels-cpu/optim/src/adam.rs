//! Steps of Adam and `AdamW`.

use aten::AdamStep;
use dispatch_runtime::prelude::*;
use engine::compute::RealFloat;
use engine::math::Real;
use engine::vectorised;

use crate::step_numbers::{number_of, skips_step};
use crate::step_pieces::{PieceStep, StepElement, penalized, run_step};

/// A step with the numbers that differ from parameter to parameter.
struct CountedAdamStep<'a> {
    numbers: &'a AdamStep,
    /// The results of [`AdamStep::bias_corrections`], for each parameter.
    bias_corrections: Vec<(f64, f64)>,
}

macro_rules! define_adam_kernels {
    ($($operator:ident $kernel:ident)*) => {$(
        #[op_impl(aten::$operator, CPU)]
        #[expect(clippy::too_many_arguments, reason = "an argument for each list of tensors")]
        fn $kernel(
            plan: &AdamStep,
            this: &mut [Tensor],
            grads: &mut [Tensor],
            exp_avgs: &mut [Tensor],
            exp_avg_sqs: &mut [Tensor],
            max_exp_avg_sqs: &mut [Tensor],
            state_steps: &[Tensor],
            grad_scale: Option<&Tensor>,
            found_inf: Option<&Tensor>,
        ) -> Result<()> {
            if skips_step(found_inf)? {
                return Ok(());
            }
            let mut written = vec![this, exp_avgs, exp_avg_sqs];
            written.extend(plan.amsgrad.then_some(max_exp_avg_sqs));
            run_adam(plan, &mut written, grads, state_steps, grad_scale)
        }
    )*};
}

define_adam_kernels! {
    _fused_adam_ adam
    _fused_adamw_ adamw
}

fn run_adam(
    numbers: &AdamStep,
    written: &mut [&mut [Tensor]],
    grads: &mut [Tensor],
    state_steps: &[Tensor],
    grad_scale: Option<&Tensor>,
) -> Result<()> {
    let correct = |step| Ok(numbers.bias_corrections(number_of(step)?));
    let bias_corrections = state_steps.iter().map(correct).collect::<Result<_>>()?;
    let scale = grad_scale.map(number_of).transpose()?;
    run_step(&CountedAdamStep { numbers, bias_corrections }, written, grads, scale)
}

impl PieceStep for CountedAdamStep<'_> {
    fn run<T: StepElement>(&self, index: usize, written: &mut [&mut [T]], grad: &[T]) {
        let [param, mean, mean_of_squares, maximum @ ..] = written else { return };
        let step = *self.numbers;
        let number = T::Compute::from_f64;
        let (step_size, root_divisor) = self.bias_corrections[index];
        let (step_size, root_divisor, eps) = (number(step_size), number(root_divisor), number(step.eps));
        let (grad_weight, square_weight) = (1.0 - step.beta1, number(1.0 - step.beta2));
        let beta2 = number(step.beta2);
        // A large weight is counted from the other end, as `lerp` does.
        let counts_from_mean = grad_weight.abs() < 0.5;
        let mean_weight = number(if counts_from_mean { grad_weight } else { grad_weight - 1.0 });
        let sign = number(if step.maximize { -1.0 } else { 1.0 });
        let (penalty, shrinking) = if step.decouples_weight_decay {
            (number(0.0), number(1.0 - step.lr * step.weight_decay))
        } else {
            (number(step.weight_decay), number(1.0))
        };
        let count = param.len().min(mean.len()).min(mean_of_squares.len()).min(grad.len());
        let (param, mean) = (&mut param[..count], &mut mean[..count]);
        let (mean_of_squares, grad) = (&mut mean_of_squares[..count], &grad[..count]);
        let mut maximum = maximum.first_mut().map(|maximum| &mut maximum[..count]);
        vectorised!(move {
            for i in 0..count {
                let x = param[i].load();
                let g = penalized(grad[i].load() * sign, x, penalty);
                let before = mean[i].load();
                let now = (if counts_from_mean { before } else { g }) + mean_weight * (g - before);
                let square = mean_of_squares[i].load() * beta2 + square_weight * g * g;
                mean[i] = T::store(now);
                mean_of_squares[i] = T::store(square);
                let largest = match &mut maximum {
                    Some(maximum) => {
                        let before = maximum[i].load();
                        let largest = if before > square || before.is_nan() { before } else { square };
                        maximum[i] = T::store(largest);
                        largest
                    }
                    None => square,
                };
                let denominator = Real::sqrt(largest) / root_divisor + eps;
                param[i] = T::store(x * shrinking - step_size * now / denominator);
            }
        });
    }
}
