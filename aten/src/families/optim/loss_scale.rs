//! The scale of a loss in mixed precision: gradients of a scaled loss are divided by it, and it changes with their overflows.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes};

use super::fused_step::{clone_list, number_of};
use crate::{all, copy_, fill__scalar, isfinite, mul_};

/// Multiplies gradients by `inv_scale`, in place, and sets `found_inf` to one if an element is infinite or NaN.
#[op_def(
    "_amp_foreach_non_finite_check_and_unscale_(Tensor(a!)[] self, Tensor(b!) found_inf, Tensor inv_scale) -> ()",
    plan, body = CompositeExplicitAutograd
)]
pub fn _amp_foreach_non_finite_check_and_unscale_(_: ...) -> Result<()> {
    check_unscale(this, found_inf, inv_scale)?;
    let inv_scale = &crate::reshape(inv_scale, &[])?;
    for grad in this {
        if crate::item(&all(&isfinite(grad)?)?)?.to_i64() == 0 {
            fill__scalar(found_inf, 1.0.into())?;
        }
        mul_(grad, inv_scale)?;
    }
    Ok(())
}

#[op_plan(_amp_foreach_non_finite_check_and_unscale_)]
fn check_unscale(this: &[Tensor], found_inf: &Tensor, inv_scale: &Tensor) -> Result<Plan<(), 0>, BadArgument> {
    for (i, grad) in this.iter().enumerate() {
        if !grad.dtype().is_floating() {
            return Err(BadArgument::dtype(format!("self[{i}]"), grad.dtype(), DTypes::Floating));
        }
    }
    check_single_float("found_inf", found_inf)?;
    check_single_float("inv_scale", inv_scale)?;
    Ok(Plan::new((), []))
}

fn check_single_float(argument: &'static str, tensor: &Tensor) -> Result<(), BadArgument> {
    if tensor.geometry().count() != 1 {
        return Err(BadArgument::element_count(argument, tensor.sizes(), 1));
    }
    if tensor.dtype() != DType::F32 {
        return Err(BadArgument::dtype(argument, tensor.dtype(), DTypes::Is(DType::F32)));
    }
    Ok(())
}

/// [`_amp_foreach_non_finite_check_and_unscale_`] on copies.
#[op_def(
    "_amp_foreach_non_finite_check_and_unscale(Tensor[] self, Tensor found_inf, Tensor inv_scale) -> (Tensor[] self_out, Tensor found_inf_out)",
    body = CompositeExplicitAutograd
)]
pub fn _amp_foreach_non_finite_check_and_unscale(_: ...) -> Result<(Vec<Tensor>, Tensor)> {
    let (mut grads, mut found_inf) = (clone_list(this)?, crate::clone(found_inf, None)?);
    _amp_foreach_non_finite_check_and_unscale_(&mut grads, &mut found_inf, inv_scale)?;
    Ok((grads, found_inf))
}

/// [`_amp_foreach_non_finite_check_and_unscale`], which writes the gradients to `out` and changes nothing else.
#[op_def(
    "_amp_foreach_non_finite_check_and_unscale.out(Tensor[] self, Tensor(b!) found_inf, Tensor inv_scale, *, Tensor(a!)[] out) -> ()",
    body = CompositeExplicitAutograd
)]
pub fn _amp_foreach_non_finite_check_and_unscale_out(_: ...) -> Result<()> {
    let (grads, _) = _amp_foreach_non_finite_check_and_unscale(this, found_inf, inv_scale)?;
    super::fused_step::write_params(out, &grads)
}

/// Updates the scale of the loss, in place: less after an overflow, and more after `growth_interval` steps without one. `growth_tracker`
/// counts these steps.
#[op_def(
    "_amp_update_scale_(Tensor(a!) self, Tensor(b!) growth_tracker, Tensor found_inf, float scale_growth_factor, float scale_backoff_factor, int growth_interval) -> Tensor(a!)",
    plan, body = CompositeExplicitAutograd
)]
pub fn _amp_update_scale_(_: ...) -> Result<()> {
    update_scale_plan(this, growth_tracker, found_inf)?;
    let (scale, steps) = (number_of("self", this)?, crate::item(growth_tracker)?.to_i64());
    // The counter is an `int32`, which wraps around.
    let next = i64::from(i32::try_from(steps.saturating_add(1)).unwrap_or(i32::MIN));
    let (scale, steps) = if number_of("found_inf", found_inf)? != 0.0 {
        (scale * scale_backoff_factor, 0)
    } else if next == growth_interval {
        let grown = scale * scale_growth_factor;
        (if grown <= f64::from(f32::MAX) { grown } else { scale }, 0)
    } else {
        (scale, next)
    };
    fill__scalar(this, scale.into())?;
    fill__scalar(growth_tracker, steps.into())
}

#[op_plan(_amp_update_scale_)]
fn update_scale_plan(this: &Tensor, growth_tracker: &Tensor, found_inf: &Tensor) -> Result<Plan<(), 0>, BadArgument> {
    check_single_float("self", this)?;
    check_single_float("found_inf", found_inf)?;
    if growth_tracker.geometry().count() != 1 {
        return Err(BadArgument::element_count("growth_tracker", growth_tracker.sizes(), 1));
    }
    if growth_tracker.dtype() != DType::I32 {
        return Err(BadArgument::dtype("growth_tracker", growth_tracker.dtype(), DTypes::Is(DType::I32)));
    }
    Ok(Plan::new((), []))
}

/// [`_amp_update_scale_`] on copies.
#[op_def(
    "_amp_update_scale(Tensor self, Tensor growth_tracker, Tensor found_inf, float scale_growth_factor, float scale_backoff_factor, int growth_interval) -> (Tensor, Tensor growth_tracker_out)",
    body = CompositeExplicitAutograd
)]
pub fn _amp_update_scale(_: ...) -> Result<(Tensor, Tensor)> {
    let (mut scale, mut tracker) = (crate::clone(this, None)?, crate::clone(growth_tracker, None)?);
    _amp_update_scale_(
        &mut scale,
        &mut tracker,
        found_inf,
        scale_growth_factor,
        scale_backoff_factor,
        growth_interval,
    )?;
    Ok((scale, tracker))
}

/// [`_amp_update_scale`], which writes the scale to `out` and changes nothing else.
#[op_def(
    "_amp_update_scale.out(Tensor self, Tensor(b!) growth_tracker, Tensor found_inf, float scale_growth_factor, float scale_backoff_factor, int growth_interval, *, Tensor(a!) out) -> Tensor(a!)",
    body = CompositeExplicitAutograd
)]
pub fn _amp_update_scale_out(_: ...) -> Result<()> {
    let (scale, _) =
        _amp_update_scale(this, growth_tracker, found_inf, scale_growth_factor, scale_backoff_factor, growth_interval)?;
    copy_(out, &scale, false)
}
