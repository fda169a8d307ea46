//! Random tensors of zeros and ones.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes};

use super::plan_with_output_like;

/// Draws ones with the probabilities `self`, and zeros otherwise.
#[op_def(
    "bernoulli(Tensor self, *, Generator? generator=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn bernoulli(this: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    bernoulli_tensor(this, this, generator)
}

/// Draws ones with the probabilities `p`, and zeros otherwise, in the sizes of `self`.
#[op_def(
    "bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor",
    plan,
    inplace,
    out = "Tensor_out"
)]
pub fn bernoulli_tensor(_: ...) -> Result<Tensor>;

#[op_plan(bernoulli_tensor)]
fn bernoulli_tensor_plan(this: &Tensor, p: &Tensor) -> Result<Plan<()>, BadArgument> {
    check_real_dtype(this)?;
    crate::check_same_device([("self", this), ("p", p)])?;
    if !p.dtype().is_floating() {
        return Err(BadArgument::dtype("p", p.dtype(), DTypes::Floating));
    }
    crate::check_broadcasts_to_sizes("p", p, this.sizes())?;
    Ok(plan_with_output_like(this, ()))
}

/// Draws ones with the probability `p`, and zeros otherwise, in the sizes of `self`.
#[op_def("bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor", plan)]
pub fn bernoulli_p(_: ...) -> Result<Tensor>;

#[op_plan(bernoulli_p)]
fn bernoulli_p_plan(this: &Tensor, p: f64) -> Result<Plan<()>, BadArgument> {
    check_probability(this, p)?;
    Ok(plan_with_output_like(this, ()))
}

/// Fills `self` with ones of probability `p`, and zeros otherwise.
#[op_def("bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)", plan)]
pub fn bernoulli__float(_: ...) -> Result<()>;

#[op_plan(bernoulli__float)]
fn bernoulli_float_plan(this: &Tensor, p: f64) -> Result<Plan<(), 0>, BadArgument> {
    check_probability(this, p).map(Plan::without_outputs)
}

fn check_probability(this: &Tensor, p: f64) -> Result<(), BadArgument> {
    check_real_dtype(this)?;
    if (0.0..=1.0).contains(&p) { Ok(()) } else { Err(BadArgument::number("p", p, 0..=1)) }
}

fn check_real_dtype(this: &Tensor) -> Result<(), BadArgument> {
    if this.dtype().is_complex() { Err(BadArgument::dtype("self", this.dtype(), DTypes::Real)) } else { Ok(()) }
}
