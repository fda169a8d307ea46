//! Activations that are gated, weighted, or random.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Spec, wrap_dim};

use crate::{
    _prelu_kernel, check_devices, copy_, leaky_relu, leaky_relu_, leaky_relu_backward, mul, mul_, narrow, reshape,
};

/// One half of a dimension, times the sigmoid of the other.
#[op_def("glu(Tensor self, int dim=-1) -> Tensor", plan, out = "out")]
pub fn glu(_: ...) -> Result<Tensor>;

/// Both halves of a dimension.
pub struct Halves {
    /// The first half.
    pub gated: Tensor,
    /// The second half, the sigmoid of which is a factor.
    pub gate: Tensor,
}

#[op_plan(glu)]
fn glu_plan(this: &Tensor, dim: i64) -> Result<Plan<Halves>> {
    let halves = halves("self", this, dim)?;
    let spec = Spec::pointwise(&[&halves.gated, &halves.gate], this.dtype())?;
    Ok(Plan::new(halves, [spec]))
}

/// The gradient of [`glu`].
#[op_def("glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor", plan, out = "grad_input"(grad_input))]
pub fn glu_backward(_: ...) -> Result<Tensor>;

#[op_plan(glu_backward)]
fn glu_backward_plan(grad_output: &Tensor, this: &Tensor, dim: i64) -> Result<Plan<Halves>> {
    check_devices([("self", this), ("grad_output", grad_output)])?;
    let halves = halves("self", this, dim)?;
    if grad_output.dtype() != this.dtype() {
        return Err(
            BadArgument::dtype("grad_output", grad_output.dtype(), format!("{}, as `self` is", this.dtype())).into()
        );
    }
    if grad_output.sizes() != halves.gated.sizes() {
        let expected = format!("{:?}, the sizes of the result", halves.gated.sizes());
        return Err(BadArgument::sizes("grad_output", grad_output.sizes(), expected).into());
    }
    Ok(Plan::new(halves, [Spec::contiguous(this.dtype(), this.sizes())]))
}

/// How [`glu`] of `x`, which is `glu`, changes as `x` does by `dx`.
#[op_def("glu_jvp(Tensor glu, Tensor x, Tensor dx, int dim) -> Tensor", plan, out = "out")]
pub fn glu_jvp(_: ...) -> Result<Tensor>;

/// The second half of what is gated, and both halves of its change.
pub struct Change {
    /// The half the sigmoid of which is a factor.
    pub gate: Tensor,
    /// How each half changes.
    pub by: Halves,
}

#[op_plan(glu_jvp)]
fn glu_jvp_plan(glu: &Tensor, x: &Tensor, dx: &Tensor, dim: i64) -> Result<Plan<Change>> {
    check_devices([("x", x), ("glu", glu), ("dx", dx)])?;
    let Halves { gated, gate } = halves("x", x, dim)?;
    let fitting = [("glu", glu, gated.sizes(), "half of the sizes of `x`"), ("dx", dx, x.sizes(), "the sizes of `x`")];
    for (name, tensor, sizes, whose) in fitting {
        if tensor.dtype() != x.dtype() {
            return Err(BadArgument::dtype(name, tensor.dtype(), format!("{}, as `x` is", x.dtype())).into());
        }
        if tensor.sizes() != sizes {
            return Err(BadArgument::sizes(name, tensor.sizes(), format!("{sizes:?}, {whose}")).into());
        }
    }
    Ok(Plan::new(Change { gate, by: halves("dx", dx, dim)? }, [Spec::like(glu, glu.dtype())]))
}

fn halves(name: &'static str, this: &Tensor, dim: i64) -> Result<Halves> {
    if !this.dtype().is_floating() {
        return Err(BadArgument::dtype(name, this.dtype(), "floating").into());
    }
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    let Some(&size) = this.sizes().get(at) else {
        return Err(BadArgument::rank(name, 0, "at least 1").into());
    };
    if size % 2 != 0 {
        return Err(BadArgument::sizes(name, this.sizes(), format!("an even size in dimension {at}")).into());
    }
    Ok(Halves { gated: narrow(this, dim, 0, size / 2)?, gate: narrow(this, dim, size / 2, size / 2)? })
}

/// `self`, times `weight` below zero; there is one weight, or one for each channel.
#[op_def("prelu(Tensor self, Tensor weight) -> Tensor")]
pub fn prelu(this: &Tensor, weight: &Tensor) -> Result<Tensor> {
    if weight.dtype() != this.dtype() {
        return Err(BadArgument::dtype("weight", weight.dtype(), format!("{}, as `self` is", this.dtype())).into());
    }
    if weight.sizes().len() > 1 {
        return Err(BadArgument::rank("weight", weight.sizes().len(), "0 or 1").into());
    }
    let (rank, count) = (this.sizes().len(), weight.geometry().count());
    let channels = this.sizes().get(1).copied().unwrap_or(1);
    if count != 1 && (rank == 0 || count != channels) {
        return Err(BadArgument::sizes(
            "weight",
            weight.sizes(),
            format!("one weight, or {channels} for the channels"),
        )
        .into());
    }
    let mut sizes = Dims::from_elem(1, rank);
    if let Some(size) = sizes.get_mut(1) {
        *size = count;
    }
    _prelu_kernel(this, &reshape(weight, &sizes)?)
}

/// `self`, times a random number between two below zero while training, and their mean otherwise.
#[op_def(
    "rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None) -> Tensor"
)]
pub fn rrelu(_: ...) -> Result<Tensor> {
    let bounds = bounds(this, this, [lower, upper], training)?;
    if training { mul(this, &slopes(this, bounds, generator)?) } else { leaky_relu(this, middle(bounds)) }
}

/// [`rrelu`], in place
#[op_def(
    "rrelu_(Tensor(a!) self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None) -> Tensor(a!)"
)]
pub fn rrelu_(_: ...) -> Result<()> {
    let bounds = bounds(this, this, [lower, upper], training)?;
    if !training {
        return leaky_relu_(this, middle(bounds));
    }
    let slopes = slopes(this, bounds, generator)?;
    mul_(this, &slopes)
}

/// [`rrelu`], and what each element was multiplied with while training.
#[op_def(
    "rrelu_with_noise_functional(Tensor self, Tensor noise, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None) -> (Tensor, Tensor noise_out)"
)]
pub fn rrelu_with_noise_functional(_: ...) -> Result<(Tensor, Tensor)> {
    let mut noise = crate::clone(noise, None)?;
    Ok((rrelu_with_noise(this, &mut noise, lower, upper, training, generator)?, noise))
}

/// [`rrelu`], into a tensor of the caller's for what elements were multiplied with while training
#[op_def(
    "rrelu_with_noise(Tensor self, Tensor(b!) noise, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None) -> Tensor"
)]
pub fn rrelu_with_noise(_: ...) -> Result<Tensor> {
    let bounds = bounds(this, noise, [lower, upper], training)?;
    if !training {
        return leaky_relu(this, middle(bounds));
    }
    let slopes = slopes(this, bounds, generator)?;
    copy_(noise, &slopes, false)?;
    mul(this, &slopes)
}

/// [`rrelu_with_noise`], in place
#[op_def(
    "rrelu_with_noise_(Tensor(a!) self, Tensor(b!) noise, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None) -> Tensor(a!)"
)]
pub fn rrelu_with_noise_(_: ...) -> Result<()> {
    let bounds = bounds(this, noise, [lower, upper], training)?;
    if !training {
        return leaky_relu_(this, middle(bounds));
    }
    let slopes = slopes(this, bounds, generator)?;
    copy_(noise, &slopes, false)?;
    mul_(this, &slopes)
}

/// The gradient of [`rrelu_with_noise`].
#[op_def(
    "rrelu_with_noise_backward(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, Scalar upper, bool training, bool self_is_result) -> Tensor",
    out = "out"
)]
pub fn rrelu_with_noise_backward(_: ...) -> Result<Tensor> {
    let bounds = bounds(this, noise, [lower, upper], training)?;
    if training && bounds[1] - bounds[0] > 1e-6 {
        return mul(grad_output, noise);
    }
    leaky_relu_backward(grad_output, this, middle(bounds), self_is_result)
}

/// Between which numbers slopes are.
fn bounds(this: &Tensor, noise: &Tensor, [lower, upper]: [Scalar; 2], training: bool) -> Result<[f64; 2], BadArgument> {
    check_devices([("self", this), ("noise", noise)])?;
    if !this.dtype().is_floating() {
        return Err(BadArgument::dtype("self", this.dtype(), "floating"));
    }
    if noise.sizes() != this.sizes() {
        return Err(BadArgument::sizes("noise", noise.sizes(), format!("{:?}, as `self` has", this.sizes())));
    }
    let bounds = [lower, upper].map(|bound| bound.to_f64().unwrap_or(f64::NAN));
    crate::check_numbers(DType::F64, [("lower", lower), ("upper", upper)])?;
    if !training || bounds[0] <= bounds[1] && bounds.iter().all(|bound| bound.is_finite()) {
        return Ok(bounds);
    }
    Err(BadArgument::value("upper", upper, format!("a number that is not below `lower`, {lower}")))
}

fn middle([lower, upper]: [f64; 2]) -> Scalar {
    f64::midpoint(lower, upper).into()
}

/// Random numbers between bounds for the elements that are not positive, and 1 for those that are.
fn slopes(this: &Tensor, [lower, upper]: [f64; 2], generator: Option<&Generator>) -> Result<Tensor> {
    // Not in place, as a mapped function may draw others for each slice of what all share.
    let slopes = crate::uniform(this, lower, upper, generator)?;
    crate::where_scalarother(&crate::le_scalar(this, 0.into())?, &slopes, 1.into())
}
