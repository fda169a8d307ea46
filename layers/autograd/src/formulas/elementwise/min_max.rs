//! Gradient formulas of maximum, minimum and clamp, and of selection by a mask (`where`, `masked_fill`).

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::{Gradient, op_grad};

/// Returns the gradient of one operand of a minimum or maximum: half if the operands are equal, zero if the other was selected.
fn min_max_operand_gradient(grad: &Tensor, equal: &Tensor, lost: &Tensor) -> Result<Tensor> {
    aten::where_self(equal, &(grad / 2)?, grad)?.masked_fill(lost, 0)
}

fn any_operand_is_nan([a, b, c]: [&Tensor; 3]) -> Result<Tensor> {
    a.isnan()?.logical_or(&b.isnan()?)?.logical_or(&c.isnan()?)
}

/// Returns the gradient of a tensor clamped by one bound. `below` is true for a lower bound.
fn one_bound_clamp_gradient(grad: &Tensor, this: &Tensor, bound: &Tensor, below: bool) -> Result<Tensor> {
    if bound.is_number() {
        let inside = if below { this.gt(bound)? } else { this.lt(bound)? };
        return aten::where_scalarother(&inside, grad, 0.into());
    }
    min_max_operand_gradient(grad, &this.eq(bound)?, &if below { this.lt(bound)? } else { this.gt(bound)? })
}

derivatives! {
    where_self(grad, condition), not_differentiable(condition) =>
        aten::where_scalarother(condition, grad, 0.into()), aten::where_scalarself(condition, 0.into(), grad);
    masked_fill(grad, mask), not_differentiable(mask) =>
        grad.masked_fill(mask, 0), aten::where_scalarother(mask, grad, 0.into());
    maximum(grad, this, other) =>
        min_max_operand_gradient(grad, &this.eq(other)?, &this.lt(other)?), min_max_operand_gradient(grad, &this.eq(other)?, &this.gt(other)?);
    minimum(grad, this, other) =>
        min_max_operand_gradient(grad, &this.eq(other)?, &this.gt(other)?), min_max_operand_gradient(grad, &this.eq(other)?, &this.lt(other)?);
    fmax(grad, this, other) =>
        min_max_operand_gradient(grad, &this.eq(other)?, &this.ge(other)?.logical_or(&other.isnan()?)?.logical_not()?),
        min_max_operand_gradient(grad, &this.eq(other)?, &this.gt(other)?.logical_or(&other.isnan()?)?);
    fmin(grad, this, other) =>
        min_max_operand_gradient(grad, &this.eq(other)?, &this.le(other)?.logical_or(&other.isnan()?)?.logical_not()?),
        min_max_operand_gradient(grad, &this.eq(other)?, &this.lt(other)?.logical_or(&other.isnan()?)?);
    clamp_min_tensor(grad, this, min) => one_bound_clamp_gradient(grad, this, min, true), min_max_operand_gradient(grad, &this.eq(min)?, &this.gt(min)?);
    clamp_max_tensor(grad, this, max) =>
        one_bound_clamp_gradient(grad, this, max, false), min_max_operand_gradient(grad, &this.eq(max)?, &this.lt(max)?);
}

/// Gradients of `clamp`. If an element equals a scalar bound, its gradient is zero. If it equals a tensor bound, element and bound get half
/// each.
#[op_grad(aten::clamp_tensor)]
fn clamp_tensor(grad: &Tensor, _: ...) -> (impl Gradient, impl Gradient, impl Gradient) {
    (
        move || match (min, max) {
            (Some(min), Some(max)) if !min.is_number() => {
                let on_bound = this.eq(min)?.logical_or(&this.eq(max)?)?.logical_and(&min.lt(max)?)?;
                min_max_operand_gradient(grad, &on_bound, &this.lt(min)?.logical_or(&this.gt(max)?)?)
            }
            (min, max) => {
                let above = min.map(|min| one_bound_clamp_gradient(grad, this, min, true)).transpose()?;
                let grad = above.as_ref().unwrap_or(grad);
                max.map_or_else(|| Ok(grad.clone()), |max| one_bound_clamp_gradient(grad, this, max, false))
            }
        },
        move || match (min, max) {
            (Some(min), Some(max)) => {
                let none =
                    this.gt(min)?.logical_or(&min.gt(max)?)?.logical_or(&this.eq(min)?.logical_and(&min.eq(max)?)?)?;
                min_max_operand_gradient(grad, &this.eq(min)?, &none)?
                    .masked_fill(&any_operand_is_nan([this, min, max])?, 0)
            }
            (Some(min), None) => min_max_operand_gradient(grad, &this.eq(min)?, &this.gt(min)?),
            (None, _) => grad.zeros_like(),
        },
        move || match (min, max) {
            (Some(min), Some(max)) => {
                let crossed = min.gt(max)?;
                let on_bound = this.eq(max)?.logical_and(&min.lt(max)?)?;
                let all = this.gt(max)?.logical_or(&crossed)?;
                min_max_operand_gradient(grad, &on_bound, &on_bound.logical_or(&all)?.logical_not()?)
            }
            (None, Some(max)) => min_max_operand_gradient(grad, &this.eq(max)?, &this.lt(max)?),
            (_, None) => grad.zeros_like(),
        },
    )
}
