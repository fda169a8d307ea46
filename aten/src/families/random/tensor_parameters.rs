//! Random numbers, each of a distribution that an element of the arguments shapes.
//!
//! A number takes all words of one block. Where it needs more than those, they begin a stream of its own.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Promotion, Spec, broadcast};

use super::{check_fraction, filled};
use crate::{check_devices, empty_memory_format, normal_};

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

/// Numbers of the normal distribution in the sizes of `self`, into a tensor.
#[op_def(
    "normal.out(Tensor self, float mean=0., float std=1., *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)"
)]
pub fn normal_out(this: &Tensor, mean: f64, std: f64, generator: Option<&Generator>, out: &mut Tensor) -> Result<()> {
    Spec::contiguous(out.dtype(), this.sizes()).fit("out", out)?;
    normal_(out, mean, std, generator)
}

/// A number of the normal distribution around each mean.
#[op_def(
    "normal.Tensor_float(Tensor mean, float std=1., *, Generator? generator=None) -> Tensor",
    out = "Tensor_float_out", body = CompositeExplicitAutograd
)]
pub fn normal_tensor_float(mean: &Tensor, std: f64, generator: Option<&Generator>) -> Result<Tensor> {
    let mut made = empty_memory_format(mean.sizes(), Some(mean.dtype()), None, Some(mean.device()), None, None)?;
    normal_(&mut made, 0.0, std, generator).map_err(|error| called(error, "mean"))?;
    crate::add_(&mut made, mean, 1.into())?;
    Ok(made)
}

/// A number of the normal distribution with each deviation.
#[op_def(
    "normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor",
    out = "float_Tensor_out", body = CompositeExplicitAutograd
)]
pub fn normal_float_tensor(mean: f64, std: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    let mut made = empty_memory_format(std.sizes(), Some(std.dtype()), None, Some(std.device()), None, None)?;
    spread(&mut made, std, generator)?;
    crate::add__scalar(&mut made, mean.into(), 1.into())?;
    Ok(made)
}

/// A number of the normal distribution with each mean and deviation.
#[op_def(
    "normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor",
    out = "Tensor_Tensor_out", body = CompositeExplicitAutograd
)]
pub fn normal_tensor_tensor(mean: &Tensor, std: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    let sizes = broadcast([mean.sizes(), std.sizes()]).map_err(|error| BadArgument::new("std", error.problem))?;
    let mut made = empty_memory_format(&sizes, Some(mean.dtype()), None, Some(mean.device()), None, None)?;
    spread(&mut made, std, generator)?;
    crate::add_(&mut made, mean, 1.into())?;
    Ok(made)
}

/// Fills a tensor around zero.
fn spread(made: &mut Tensor, std: &Tensor, generator: Option<&Generator>) -> Result<()> {
    if std.dtype().is_complex() {
        return Err(BadArgument::dtype("std", std.dtype(), DTypes::Real).into());
    }
    normal_(made, 0.0, 1.0, generator).map_err(|error| called(error, "std"))?;
    crate::mul_(made, std)
}

/// What went wrong in filling a tensor that is as this argument has it.
fn called(error: Error, argument: &'static str) -> Error {
    let bad = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<BadArgument>());
    match bad {
        Some(bad) if bad.argument == "self" => BadArgument { argument: argument.into(), ..bad.clone() }.into(),
        _ => error,
    }
}
