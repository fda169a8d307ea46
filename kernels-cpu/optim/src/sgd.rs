//! Steps of stochastic gradient descent.

use aten::SgdStep;
use dispatch_runtime::prelude::*;
use engine::vectorised;

use crate::step_numbers::{number_of, skips_step};
use crate::step_pieces::{PieceStep, StepElement, penalized, run_step};

#[op_impl(aten::_fused_sgd_, CPU)]
fn sgd(
    plan: &SgdStep,
    this: &mut [Tensor],
    grads: &mut [Tensor],
    momentum_buffer_list: &mut [Tensor],
    grad_scale: Option<&Tensor>,
    found_inf: Option<&Tensor>,
) -> Result<()> {
    if skips_step(found_inf)? {
        return Ok(());
    }
    let scale = grad_scale.map(number_of).transpose()?;
    let mut written = vec![this];
    written.extend((plan.momentum != 0.0).then_some(momentum_buffer_list));
    run_step(&SgdPieces(plan), &mut written, grads, scale)
}

struct SgdPieces<'a>(&'a SgdStep);

impl PieceStep for SgdPieces<'_> {
    fn run<T: StepElement>(&self, _: usize, written: &mut [&mut [T]], grad: &[T]) {
        let [param, momentum @ ..] = written else { return };
        let step = *self.0;
        let number = T::Compute::from_f64;
        let (lr, penalty) = (number(step.lr), number(step.weight_decay));
        let sign = number(if step.maximize { -1.0 } else { 1.0 });
        let (decay, weight) = if step.is_first_step {
            (number(0.0), number(1.0))
        } else {
            (number(step.momentum), number(1.0 - step.dampening))
        };
        let look_ahead = number(step.momentum);
        let count = param.len().min(grad.len());
        let (param, grad) = (&mut param[..count], &grad[..count]);
        match momentum.first_mut().map(|momentum| &mut momentum[..count]) {
            None => vectorised!(move {
                for i in 0..count {
                    let x = param[i].load();
                    param[i] = T::store(x - lr * penalized(grad[i].load() * sign, x, penalty));
                }
            }),
            Some(momentum) => vectorised!(move {
                for i in 0..count {
                    let x = param[i].load();
                    let g = penalized(grad[i].load() * sign, x, penalty);
                    // The first momentum is the gradient, whatever the memory contains.
                    let before = if step.is_first_step { number(0.0) } else { momentum[i].load() };
                    let now = before * decay + g * weight;
                    momentum[i] = T::store(now);
                    param[i] = T::store(x - lr * if step.nesterov { g + now * look_ahead } else { now });
                }
            }),
        }
    }
}
