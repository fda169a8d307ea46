//! Fake quantisation with a scale and a zero point that are trained.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Spec};

use super::affine::{AffineMap, check_channels, check_elements_and_range, with_overflow_as_nan};
use crate::check_same_device;
use crate::prelude::*;

/// Rounds numbers to those that integers represent. `scale` and `zero_point` are vectors whose first element counts, and have gradients,
/// which `grad_factor` scales.
#[op_def(
    "_fake_quantize_learnable_per_tensor_affine(Tensor self, Tensor scale, Tensor zero_point, int quant_min, int quant_max, float grad_factor=1.) -> Tensor",
    plan, out = "out", body = CompositeExplicitAutograd
)]
pub fn _fake_quantize_learnable_per_tensor_affine(_: ...) -> Result<Tensor> {
    _fake_quantize_learnable_per_tensor_affine::plan(this, scale, zero_point, quant_min, quant_max, grad_factor)?;
    let map = tensor_map((scale, zero_point), (quant_min, quant_max), Tensor::round)?;
    Ok(map.round_trip(this, &map.unclamped(this)?)?.0)
}

#[op_plan(_fake_quantize_learnable_per_tensor_affine)]
fn per_tensor_plan(_: ...) -> Result<Plan<()>, BadArgument> {
    check_elements_and_range(this, quant_min, quant_max)?;
    for (name, tensor) in [("scale", scale), ("zero_point", zero_point)] {
        if tensor.sizes().is_empty() {
            return Err(BadArgument::rank(name, 0, 1..));
        }
    }
    check_parameters([("scale", scale), ("zero_point", zero_point)])?;
    Ok(Plan::new((), [Spec::like(this, this.dtype())]))
}

/// Rounds numbers to those that integers represent. `scale` and `zero_point` have an element for each index of a dimension, and have
/// gradients, which `grad_factor` scales.
#[op_def(
    "_fake_quantize_learnable_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, int quant_max, float grad_factor=1.) -> Tensor",
    plan, out = "out", body = CompositeExplicitAutograd
)]
pub fn _fake_quantize_learnable_per_channel_affine(_: ...) -> Result<Tensor> {
    let axis = _fake_quantize_learnable_per_channel_affine::plan(
        this,
        scale,
        zero_point,
        axis,
        quant_min,
        quant_max,
        grad_factor,
    )?
    .value;
    let map = channel_map(this, (scale, zero_point), axis, (quant_min, quant_max))?;
    Ok(map.round_trip(this, &with_overflow_as_nan(&map.unclamped(this)?)?)?.0)
}

#[op_plan(_fake_quantize_learnable_per_channel_affine)]
fn per_channel_plan(_: ...) -> Result<Plan<usize>, BadArgument> {
    check_elements_and_range(this, quant_min, quant_max)?;
    let parameters = [("scale", scale), ("zero_point", zero_point)];
    check_parameters(parameters)?;
    let axis = check_channels(this, parameters, axis)?;
    Ok(Plan::new(axis, [Spec::like(this, this.dtype())]))
}

/// The gradients of [`_fake_quantize_learnable_per_tensor_affine`]: of the numbers, the scale and the zero point.
#[op_def(
    "_fake_quantize_learnable_per_tensor_affine_backward(Tensor grad, Tensor self, Tensor scale, Tensor zero_point, int quant_min, int quant_max, float grad_factor=1.) -> (Tensor, Tensor, Tensor)"
)]
pub fn _fake_quantize_learnable_per_tensor_affine_backward(_: ...) -> Result<(Tensor, Tensor, Tensor)> {
    per_tensor_plan(this, scale, zero_point, quant_min, quant_max, grad_factor)?;
    check_gradient(grad, [this, scale, zero_point])?;
    if this.geometry().count() == 0 {
        return Ok((crate::clone(this, None)?, crate::clone(scale, None)?, crate::clone(zero_point, None)?));
    }
    let [grad, this] = &[wide(grad)?, wide(this)?];
    let map = tensor_map((scale, zero_point), (quant_min, quant_max), |zero_point| zero_point + 0.5)?;
    let [of_this, of_scale, of_zero_point] = element_gradients(grad, this, &map, grad_factor)?;
    Ok((of_this, of_scale.sum()?.unsqueeze(0)?, of_zero_point.sum()?.unsqueeze(0)?))
}

/// The gradients of [`_fake_quantize_learnable_per_channel_affine`]: of the numbers, the scales and the zero points.
#[op_def(
    "_fake_quantize_learnable_per_channel_affine_backward(Tensor grad, Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, int quant_max, float grad_factor=1.) -> (Tensor, Tensor, Tensor)"
)]
pub fn _fake_quantize_learnable_per_channel_affine_backward(_: ...) -> Result<(Tensor, Tensor, Tensor)> {
    let axis = per_channel_plan(this, scale, zero_point, axis, quant_min, quant_max, grad_factor)?.value;
    check_gradient(grad, [this, scale, zero_point])?;
    if this.geometry().count() == 0 {
        return Ok((crate::clone(this, None)?, crate::clone(scale, None)?, crate::clone(zero_point, None)?));
    }
    let [grad, this] = &[wide(grad)?, wide(this)?];
    let map = channel_map(this, (scale, zero_point), axis, (quant_min, quant_max))?;
    let [of_this, of_scale, of_zero_point] = element_gradients(grad, this, &map, grad_factor)?;
    let others: Vec<i64> =
        (0_i64..).zip(this.sizes()).map(|(dim, _)| dim).filter(|dim| usize::try_from(*dim) != Ok(axis)).collect();
    let sum = |gradient: Tensor| {
        if others.is_empty() { Ok(gradient) } else { gradient.sum_dims(&others) }
    };
    Ok((of_this, sum(of_scale)?, sum(of_zero_point)?))
}

/// Returns elements in single precision if they are `bfloat16`: the gradients of those are in single precision.
fn wide(elements: &Tensor) -> Result<Tensor> {
    if elements.dtype() == DType::BF16 { elements.to(DType::F32) } else { Ok(elements.clone()) }
}

/// Returns the gradients of each element, of its scale and of its zero point.
fn element_gradients(grad: &Tensor, this: &Tensor, map: &AffineMap, grad_factor: f64) -> Result<[Tensor; 3]> {
    let unclamped = with_overflow_as_nan(&map.unclamped(this)?)?;
    let is_in_range = map.is_in_range(&unclamped)?;
    // Outside of the range the result is proportional to the scale. Inside it, the rounding error is.
    let of_bound = map.distance_from_zero_point(&map.clamped(&unclamped)?)?;
    let of_rounding = (((&of_bound * &map.scale)? - this)? / &map.scale)?;
    let of_scale = ((grad * &crate::where_self(&is_in_range, &of_rounding, &of_bound)?)? * grad_factor)?;
    let of_zero_point = ((grad * &map.scale)? * (-grad_factor))?.masked_fill(&is_in_range, 0)?;
    Ok([(&is_in_range * grad)?, of_scale, of_zero_point])
}

/// Returns the map of a whole tensor, by the first scale and the first zero point. `adjust` returns a zero point whose integer part counts.
fn tensor_map(
    (scale, zero_point): (&Tensor, &Tensor),
    (quant_min, quant_max): (i64, i64),
    adjust: fn(&Tensor) -> Result<Tensor>,
) -> Result<AffineMap> {
    let first = |tensor: &Tensor| tensor.to(DType::F32)?.reshape(-1)?.select(0, 0);
    let zero_point = adjust(&first(zero_point)?)?.clamp(quant_min..=quant_max)?.trunc()?;
    Ok(AffineMap::from_tensors(first(scale)?, zero_point, (quant_min, quant_max))?.with_whole_zero_point())
}

/// Returns the map of channels, with whole zero points inside of the range.
fn channel_map(
    this: &Tensor,
    (scale, zero_point): (&Tensor, &Tensor),
    axis: usize,
    (quant_min, quant_max): (i64, i64),
) -> Result<AffineMap> {
    let zero_point = zero_point.round()?.clamp(quant_min..=quant_max)?;
    Ok(AffineMap::for_channels(this, (scale, &zero_point), axis, (quant_min, quant_max))?.with_whole_zero_point())
}

fn check_parameters(parameters: [(&'static str, &Tensor); 2]) -> Result<(), BadArgument> {
    for (name, tensor) in parameters {
        if !(tensor.dtype().is_floating() || tensor.dtype().is_integral()) {
            return Err(BadArgument::dtype(name, tensor.dtype(), DTypes::FloatingOrIntegral));
        }
        if tensor.geometry().count() == 0 && tensor.sizes() == [0] {
            return Err(BadArgument::sizes(name, tensor.sizes(), "one element or more"));
        }
    }
    Ok(())
}

fn check_gradient(grad: &Tensor, [this, scale, zero_point]: [&Tensor; 3]) -> Result<(), BadArgument> {
    check_same_device([("grad", grad), ("self", this), ("scale", scale), ("zero_point", zero_point)])?;
    if grad.sizes() != this.sizes() {
        return Err(BadArgument::sizes("grad", grad.sizes(), this.sizes()).like("self"));
    }
    if grad.dtype() != this.dtype() {
        return Err(BadArgument::dtype("grad", grad.dtype(), this.dtype()).like("self"));
    }
    Ok(())
}
