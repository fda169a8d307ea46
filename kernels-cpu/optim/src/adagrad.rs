//! Steps of Adagrad.

use aten::AdagradStep;
use dispatch_runtime::prelude::*;
use engine::math::Real;
use engine::vectorised;

use crate::step_numbers::{number_of, skips_step};
use crate::step_pieces::{PieceStep, StepElement, penalized, run_step};

#[op_impl(aten::_fused_adagrad_, CPU)]
fn adagrad(
    plan: &AdagradStep,
    this: &mut [Tensor],
    grads: &mut [Tensor],
    state_sums: &mut [Tensor],
    state_steps: &mut [Tensor],
    grad_scale: Option<&Tensor>,
    found_inf: Option<&Tensor>,
) -> Result<()> {
    if skips_step(found_inf)? {
        return Ok(());
    }
    let learning_rate = |step: &Tensor| Ok(plan.learning_rate(number_of(step)?));
    let learning_rates = state_steps.iter().map(learning_rate).collect::<Result<_>>()?;
    let scale = grad_scale.map(number_of).transpose()?;
    run_step(&AdagradPieces { numbers: plan, learning_rates }, &mut [this, state_sums], grads, scale)
}

struct AdagradPieces<'a> {
    numbers: &'a AdagradStep,
    /// The learning rate of each parameter.
    learning_rates: Vec<f64>,
}

impl PieceStep for AdagradPieces<'_> {
    fn run<T: StepElement>(&self, index: usize, written: &mut [&mut [T]], grad: &[T]) {
        let [param, sum] = written else { return };
        let number = T::Compute::from_f64;
        let (lr, penalty) = (number(self.learning_rates[index]), number(self.numbers.weight_decay));
        let (eps, sign) = (number(self.numbers.eps), number(if self.numbers.maximize { -1.0 } else { 1.0 }));
        let count = param.len().min(sum.len()).min(grad.len());
        let (param, sum, grad) = (&mut param[..count], &mut sum[..count], &grad[..count]);
        vectorised!(move {
            for i in 0..count {
                let x = param[i].load();
                let g = penalized(grad[i].load() * sign, x, penalty);
                let squares = sum[i].load() + g * g;
                sum[i] = T::store(squares);
                param[i] = T::store(x - lr * g / (Real::sqrt(squares) + eps));
            }
        });
    }
}
