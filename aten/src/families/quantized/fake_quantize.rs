//! Fake quantisation: rounds numbers to those that integers represent, in floating point.
//!
//! The gradient passes to the elements in the range of the integers, which a mask says.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Spec};

use super::affine::{AffineMap, check_channels, check_elements_and_range, check_single, with_overflow_as_nan};

/// Rounds numbers to those that integers with a scale and a zero point represent.
#[op_def(
    "fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, int quant_min, int quant_max) -> Tensor"
)]
pub fn fake_quantize_per_tensor_affine(_: ...) -> Result<Tensor> {
    Ok(fake_quantize_per_tensor_affine_cachemask(this, scale, zero_point, quant_min, quant_max)?.0)
}

/// Rounds numbers to those that integers with a scale and a zero point represent, which are tensors of one element.
#[op_def(
    "fake_quantize_per_tensor_affine.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, int quant_min, int quant_max) -> Tensor"
)]
pub fn fake_quantize_per_tensor_affine_tensor_qparams(_: ...) -> Result<Tensor> {
    let enabled = crate::ones(&[1], Some(DType::I64), None, Some(this.device()), None)?;
    let (rounded, _) = _fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
        this, scale, zero_point, &enabled, quant_min, quant_max,
    )?;
    Ok(rounded)
}

/// Rounds numbers as [`fake_quantize_per_tensor_affine`]. Also returns whether each is in the range of the integers.
#[op_def(
    "fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, int zero_point, int quant_min, int quant_max) -> (Tensor output, Tensor mask)",
    plan, out = "out"(out0, out1), body = CompositeExplicitAutograd
)]
pub fn fake_quantize_per_tensor_affine_cachemask(_: ...) -> Result<(Tensor, Tensor)> {
    fake_quantize_per_tensor_affine_cachemask::plan(this, scale, zero_point, quant_min, quant_max)?;
    let map = AffineMap::for_tensor(scale, zero_point, (quant_min, quant_max));
    map.round_trip(this, &map.unclamped(this)?)
}

#[op_plan(fake_quantize_per_tensor_affine_cachemask)]
fn per_tensor_plan(_: ...) -> Result<Plan<(), 2>, BadArgument> {
    check_elements_and_range(this, quant_min, quant_max)?;
    if !(quant_min..=quant_max).contains(&zero_point) {
        return Err(BadArgument::number("zero_point", zero_point, quant_min..=quant_max));
    }
    Ok(rounded_and_mask(this))
}

/// Rounds numbers as [`fake_quantize_per_tensor_affine_tensor_qparams`], unless `fake_quant_enabled` is zero. Also returns whether each
/// is in the range of the integers.
#[op_def(
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, Tensor fake_quant_enabled, int quant_min, int quant_max) -> (Tensor output, Tensor mask)",
    plan, out = "out"(out0, out1), body = CompositeExplicitAutograd
)]
pub fn _fake_quantize_per_tensor_affine_cachemask_tensor_qparams(_: ...) -> Result<(Tensor, Tensor)> {
    _fake_quantize_per_tensor_affine_cachemask_tensor_qparams::plan(
        this,
        scale,
        zero_point,
        fake_quant_enabled,
        quant_min,
        quant_max,
    )?;
    if crate::item(fake_quant_enabled)?.to_i64() == 0 {
        return unchanged_and_full_mask(this);
    }
    let (scale, zero_point) = (crate::item(scale)?.to_f64().unwrap_or(f64::NAN), crate::item(zero_point)?.to_i64());
    let map = AffineMap::for_tensor(scale, zero_point, (quant_min, quant_max));
    map.round_trip(this, &map.unclamped(this)?)
}

#[op_plan(_fake_quantize_per_tensor_affine_cachemask_tensor_qparams)]
fn tensor_qparams_plan(_: ...) -> Result<Plan<(), 2>, BadArgument> {
    check_elements_and_range(this, quant_min, quant_max)?;
    check_single("scale", scale)?;
    check_single("zero_point", zero_point)?;
    check_single("fake_quant_enabled", fake_quant_enabled)?;
    Ok(rounded_and_mask(this))
}

/// Rounds numbers to those that integers represent, with a scale and a zero point for each index of a dimension.
#[op_def(
    "fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, int quant_max) -> Tensor"
)]
pub fn fake_quantize_per_channel_affine(_: ...) -> Result<Tensor> {
    Ok(fake_quantize_per_channel_affine_cachemask(this, scale, zero_point, axis, quant_min, quant_max)?.0)
}

/// Rounds numbers as [`fake_quantize_per_channel_affine`]. Also returns whether each is in the range of the integers.
///
/// A zero point in floating point may have a fraction.
#[op_def(
    "fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, int quant_max) -> (Tensor output, Tensor mask)",
    plan, out = "out"(out0, out1), body = CompositeExplicitAutograd
)]
pub fn fake_quantize_per_channel_affine_cachemask(_: ...) -> Result<(Tensor, Tensor)> {
    let axis =
        fake_quantize_per_channel_affine_cachemask::plan(this, scale, zero_point, axis, quant_min, quant_max)?.value;
    if zero_point.dtype() == DType::I32 && zero_point.geometry().count() > 0 {
        let (least, most) = crate::aminmax(zero_point, None, false)?;
        for found in [crate::item(&least)?.to_i64(), crate::item(&most)?.to_i64()] {
            if !(quant_min..=quant_max).contains(&found) {
                return Err(BadArgument::number("zero_point", found, quant_min..=quant_max).into());
            }
        }
    }
    let map = AffineMap::for_channels(this, (scale, zero_point), axis, (quant_min, quant_max))?;
    map.round_trip(this, &with_overflow_as_nan(&map.unclamped(this)?)?)
}

#[op_plan(fake_quantize_per_channel_affine_cachemask)]
fn per_channel_plan(_: ...) -> Result<Plan<usize, 2>, BadArgument> {
    check_elements_and_range(this, quant_min, quant_max)?;
    if !matches!(scale.dtype(), DType::F32 | DType::BF16) {
        return Err(BadArgument::dtype("scale", scale.dtype(), &[DType::F32, DType::BF16]));
    }
    if !matches!(zero_point.dtype(), DType::I32 | DType::F32 | DType::F16) {
        return Err(BadArgument::dtype("zero_point", zero_point.dtype(), &[DType::I32, DType::F32, DType::F16]));
    }
    let axis = check_channels(this, [("scale", scale), ("zero_point", zero_point)], axis)?;
    let Plan { outputs, .. } = rounded_and_mask(this);
    Ok(Plan::new(axis, outputs))
}

macro_rules! define_mask_gradients {
    ($($(#[$doc:meta])* $name:ident $schema:literal;)*) => {$(
        $(#[$doc])*
        #[op_def($schema)]
        pub fn $name(grad: &Tensor, mask: &Tensor) -> Result<Tensor> {
            if mask.dtype() != DType::Bool {
                return Err(BadArgument::dtype("mask", mask.dtype(), DType::Bool).into());
            }
            if mask.geometry().count() != grad.geometry().count() {
                return Err(BadArgument::sizes("mask", mask.sizes(), grad.sizes()).like("grad").into());
            }
            grad * mask
        }
    )*};
}

define_mask_gradients! {
    /// The gradient of [`fake_quantize_per_tensor_affine_cachemask`]: that of the elements in range, else 0.
    fake_quantize_per_tensor_affine_cachemask_backward
        "fake_quantize_per_tensor_affine_cachemask_backward(Tensor grad, Tensor mask) -> Tensor";
    /// The gradient of [`fake_quantize_per_channel_affine_cachemask`]: that of the elements in range, else 0.
    fake_quantize_per_channel_affine_cachemask_backward
        "fake_quantize_per_channel_affine_cachemask_backward(Tensor grad, Tensor mask) -> Tensor";
}

/// Returns the plan of rounded numbers and their mask.
pub(super) fn rounded_and_mask(this: &Tensor) -> Plan<(), 2> {
    Plan::new((), [Spec::like(this, this.dtype()), Spec::like(this, DType::Bool)])
}

/// Returns a copy of the numbers, and a mask that is true everywhere.
pub(super) fn unchanged_and_full_mask(this: &Tensor) -> Result<(Tensor, Tensor)> {
    let mask = crate::ones_like(this, Some(DType::Bool), None, None, None, None)?;
    Ok((crate::clone(this, None)?, mask))
}
