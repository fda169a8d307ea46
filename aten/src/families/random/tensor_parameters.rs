//! Random numbers, each of a distribution that an element of the arguments shapes.
//!
//! A number takes all words of one block. Where it needs more than those, they begin a stream of its own.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Promotion, Spec};

use super::{check_fraction, filled};
use crate::check_devices;

/// How often what happens at a rate of `self` happens
#[op_def("poisson(Tensor self, Generator? generator=None) -> Tensor", plan, out = "out")]
pub fn poisson(_: ...) -> Result<Tensor>;

/// How many of `count` tries succeed, each with the chance `prob`
#[op_def("binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor", plan, out = "out")]
pub fn binomial(_: ...) -> Result<Tensor>;

/// Numbers of gamma distributions of these shapes
#[op_def("_standard_gamma(Tensor self, Generator? generator=None) -> Tensor", plan, out = "out")]
pub fn _standard_gamma(_: ...) -> Result<Tensor>;

/// How a number of a gamma distribution follows its shape
#[op_def("_standard_gamma_grad(Tensor self, Tensor output) -> Tensor", shape = pointwise, dtypes(floating), out = "out")]
pub fn _standard_gamma_grad(_: ...) -> Result<Tensor>;

/// Shares of one, in the last dimension, of Dirichlet distributions
#[op_def(
    "_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn _sample_dirichlet(this: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    let parts = _standard_gamma(this, generator)?;
    crate::div(&parts, &crate::sum_dim_intlist(&parts, Some(&[-1]), true, None)?)
}

/// How a share of a Dirichlet distribution follows its weight, where the weights have this total
#[op_def("_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor", shape = pointwise, dtypes(floating), out = "out")]
pub fn _dirichlet_grad(_: ...) -> Result<Tensor>;

#[op_plan(poisson)]
fn poisson_plan(this: &Tensor) -> Result<Plan<()>, BadArgument> {
    check_fraction(this, false)?;
    Ok(filled(this, ()))
}

#[op_plan(_standard_gamma)]
fn standard_gamma_plan(this: &Tensor) -> Result<Plan<()>, BadArgument> {
    check_fraction(this, false)?;
    Ok(filled(this, ()))
}

#[op_plan(binomial)]
fn binomial_plan(count: &Tensor, prob: &Tensor) -> Result<Plan<()>, BadArgument> {
    check_devices([("count", count), ("prob", prob)])?;
    for (name, tensor) in [("count", count), ("prob", prob)] {
        if !tensor.dtype().is_floating() {
            return Err(BadArgument::dtype(name, tensor.dtype(), DTypes::Floating));
        }
    }
    let dtype = Promotion::Common.of(&[count, prob]);
    let spec = Spec::pointwise(&[count, prob], dtype)
        .map_err(|error| if error.operand == 0 { error.of("count") } else { error.of("prob") })?;
    Ok(Plan::new((), [spec]))
}
