//! `rrelu`: an activation with random slopes below zero.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes};

use crate::{check_same_device, copy_, leaky_relu, leaky_relu_, leaky_relu_backward, mul, mul_};

/// Multiplies elements that are not positive by random slopes from `lower` to `upper` in training, else by the mean of both.
#[op_def(
    "rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None) -> Tensor"
)]
pub fn rrelu(_: ...) -> Result<Tensor> {
    let bounds = slope_bounds(this, this, [lower, upper], training)?;
    if training { mul(this, &draw_slopes(this, bounds, generator)?) } else { leaky_relu(this, slope_midpoint(bounds)) }
}

/// Applies [`rrelu`] in place.
#[op_def(
    "rrelu_(Tensor(a!) self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None) -> Tensor(a!)"
)]
pub fn rrelu_(_: ...) -> Result<()> {
    let bounds = slope_bounds(this, this, [lower, upper], training)?;
    if !training {
        return leaky_relu_(this, slope_midpoint(bounds));
    }
    let slopes = draw_slopes(this, bounds, generator)?;
    mul_(this, &slopes)
}

/// Computes [`rrelu`]. Also returns the factor of each element while training.
#[op_def(
    "rrelu_with_noise_functional(Tensor self, Tensor noise, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None) -> (Tensor, Tensor noise_out)",
    check = slope_bounds(this, noise, [lower, upper], training)
)]
pub fn rrelu_with_noise_functional(_: ...) -> Result<(Tensor, Tensor)> {
    let mut noise = crate::clone(noise, None)?;
    Ok((rrelu_with_noise(this, &mut noise, lower, upper, training, generator)?, noise))
}

/// Computes [`rrelu`], and writes the factor of each element to `noise` while training.
#[op_def(
    "rrelu_with_noise(Tensor self, Tensor(b!) noise, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None) -> Tensor"
)]
pub fn rrelu_with_noise(_: ...) -> Result<Tensor> {
    let bounds = slope_bounds(this, noise, [lower, upper], training)?;
    if !training {
        return leaky_relu(this, slope_midpoint(bounds));
    }
    let slopes = draw_slopes(this, bounds, generator)?;
    copy_(noise, &slopes, false)?;
    mul(this, &slopes)
}

/// Applies [`rrelu_with_noise`] in place.
#[op_def(
    "rrelu_with_noise_(Tensor(a!) self, Tensor(b!) noise, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None) -> Tensor(a!)"
)]
pub fn rrelu_with_noise_(_: ...) -> Result<()> {
    let bounds = slope_bounds(this, noise, [lower, upper], training)?;
    if !training {
        return leaky_relu_(this, slope_midpoint(bounds));
    }
    let slopes = draw_slopes(this, bounds, generator)?;
    copy_(noise, &slopes, false)?;
    mul_(this, &slopes)
}

/// Computes the gradient of [`rrelu_with_noise`].
#[op_def(
    "rrelu_with_noise_backward(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, Scalar upper, bool training, bool self_is_result) -> Tensor",
    out = "out",
    check = crate::check_broadcast([("grad_output", grad_output), ("self", this)])
)]
pub fn rrelu_with_noise_backward(_: ...) -> Result<Tensor> {
    let bounds = slope_bounds(this, noise, [lower, upper], training)?;
    if training && bounds[1] - bounds[0] > 1e-6 {
        return mul(grad_output, noise);
    }
    leaky_relu_backward(grad_output, this, slope_midpoint(bounds), self_is_result)
}

/// Checks the arguments of [`rrelu`] and returns the bounds of the slopes.
fn slope_bounds(
    this: &Tensor,
    noise: &Tensor,
    [lower, upper]: [Scalar; 2],
    training: bool,
) -> Result<[f64; 2], BadArgument> {
    check_same_device([("self", this), ("noise", noise)])?;
    if !this.dtype().is_floating() {
        return Err(BadArgument::dtype("self", this.dtype(), DTypes::Floating));
    }
    if noise.sizes() != this.sizes() {
        return Err(BadArgument::sizes("noise", noise.sizes(), this.sizes()).like("self"));
    }
    let bounds = [lower, upper].map(|bound| bound.to_f64().unwrap_or(f64::NAN));
    crate::check_scalars_fit(DType::F64, [("lower", lower), ("upper", upper)])?;
    if !training || bounds[0] <= bounds[1] && bounds.iter().all(|bound| bound.is_finite()) {
        return Ok(bounds);
    }
    Err(BadArgument::number("upper", upper, lower..).like("lower"))
}

fn slope_midpoint([lower, upper]: [f64; 2]) -> Scalar {
    f64::midpoint(lower, upper).into()
}

/// Draws the factor of each element: a random number between the bounds if the element is not positive, else 1.
fn draw_slopes(this: &Tensor, [lower, upper]: [f64; 2], generator: Option<&Generator>) -> Result<Tensor> {
    // Not in place: a mapped function may draw different numbers for each slice of a tensor that the slices share.
    let slopes = crate::uniform(this, lower, upper, generator)?;
    crate::where_scalarother(&crate::le_scalar(this, 0.into())?, &slopes, 1.into())
}
