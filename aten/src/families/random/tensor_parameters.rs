//! Random numbers of distributions whose parameters are tensors.
//!
//! Each number uses one block of the generator's stream. The four words of the block seed a stream of random words for this number.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Promotion, Spec, broadcast};

use super::{check_floating, plan_with_output_like};
use crate::{check_same_device, empty_memory_format, normal_};

/// Draws numbers of Poisson distributions with the rates `self`.
#[op_def("poisson(Tensor self, Generator? generator=None) -> Tensor", plan, out = "out")]
pub fn poisson(_: ...) -> Result<Tensor>;

/// Draws numbers of binomial distributions: the successes in `count` trials of probability `prob`.
#[op_def("binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor", plan, out = "out")]
pub fn binomial(_: ...) -> Result<Tensor>;

/// Draws numbers of gamma distributions with the shapes `self` and scale 1.
#[op_def("_standard_gamma(Tensor self, Generator? generator=None) -> Tensor", plan, out = "out")]
pub fn _standard_gamma(_: ...) -> Result<Tensor>;

/// Computes the derivative of gamma samples with respect to the shape.
#[op_def("_standard_gamma_grad(Tensor self, Tensor output) -> Tensor", shape = pointwise, dtypes(floating), out = "out")]
pub fn _standard_gamma_grad(_: ...) -> Result<Tensor>;

/// Draws samples of Dirichlet distributions with the concentrations `self`. Along the last dimension, a sample adds up to 1.
#[op_def(
    "_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn _sample_dirichlet(this: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    let gammas = _standard_gamma(this, generator)?;
    crate::div(&gammas, &crate::sum_dim_intlist(&gammas, Some(&[-1]), true, None)?)
}

/// Computes the derivative of Dirichlet samples `x` with respect to `alpha`; `total` is the sum of the concentrations.
#[op_def("_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor", shape = pointwise, dtypes(floating), out = "out")]
pub fn _dirichlet_grad(_: ...) -> Result<Tensor>;

#[op_plan(poisson)]
fn poisson_plan(this: &Tensor) -> Result<Plan<()>, BadArgument> {
    check_floating(this, false)?;
    Ok(plan_with_output_like(this, ()))
}

#[op_plan(_standard_gamma)]
fn standard_gamma_plan(this: &Tensor) -> Result<Plan<()>, BadArgument> {
    check_floating(this, false)?;
    Ok(plan_with_output_like(this, ()))
}

#[op_plan(binomial)]
fn binomial_plan(count: &Tensor, prob: &Tensor) -> Result<Plan<()>, BadArgument> {
    check_same_device([("count", count), ("prob", prob)])?;
    for (name, tensor) in [("count", count), ("prob", prob)] {
        if !tensor.dtype().is_floating() {
            return Err(BadArgument::dtype(name, tensor.dtype(), DTypes::Floating));
        }
    }
    let dtype = Promotion::Common.result_dtype(&[count, prob]);
    let spec = Spec::pointwise(&[count, prob], dtype)
        .map_err(|error| if error.operand == 0 { error.for_argument("count") } else { error.for_argument("prob") })?;
    Ok(Plan::new((), [spec]))
}

/// Fills `out`, resized to the sizes of `self`, with normal numbers.
#[op_def(
    "normal.out(Tensor self, float mean=0., float std=1., *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)"
)]
pub fn normal_out(this: &Tensor, mean: f64, std: f64, generator: Option<&Generator>, out: &mut Tensor) -> Result<()> {
    Spec::contiguous(out.dtype(), this.sizes()).fit_output("out", out)?;
    normal_(out, mean, std, generator)
}

/// Draws normal numbers with the means `mean` and one standard deviation.
#[op_def(
    "normal.Tensor_float(Tensor mean, float std=1., *, Generator? generator=None) -> Tensor",
    out = "Tensor_float_out", body = CompositeExplicitAutograd
)]
pub fn normal_tensor_float(mean: &Tensor, std: f64, generator: Option<&Generator>) -> Result<Tensor> {
    let mut result = empty_memory_format(mean.sizes(), Some(mean.dtype()), None, Some(mean.device()), None, None)?;
    normal_(&mut result, 0.0, std, generator).map_err(|error| rename_self_in_error(error, "mean"))?;
    crate::add_(&mut result, mean, 1.into())?;
    Ok(result)
}

/// Draws normal numbers with one mean and the standard deviations `std`.
#[op_def(
    "normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor",
    out = "float_Tensor_out", body = CompositeExplicitAutograd
)]
pub fn normal_float_tensor(mean: f64, std: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    let mut result = empty_memory_format(std.sizes(), Some(std.dtype()), None, Some(std.device()), None, None)?;
    fill_normal_with_std(&mut result, std, generator)?;
    crate::add__scalar(&mut result, mean.into(), 1.into())?;
    Ok(result)
}

/// Draws normal numbers with the means `mean` and the standard deviations `std`.
#[op_def(
    "normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor",
    out = "Tensor_Tensor_out", body = CompositeExplicitAutograd
)]
pub fn normal_tensor_tensor(mean: &Tensor, std: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    let sizes = broadcast([mean.sizes(), std.sizes()]).map_err(|error| BadArgument::new("std", error.problem))?;
    let mut result = empty_memory_format(&sizes, Some(mean.dtype()), None, Some(mean.device()), None, None)?;
    fill_normal_with_std(&mut result, std, generator)?;
    crate::add_(&mut result, mean, 1.into())?;
    Ok(result)
}

/// Fills a tensor with normal numbers of mean zero and the standard deviations `std`.
fn fill_normal_with_std(result: &mut Tensor, std: &Tensor, generator: Option<&Generator>) -> Result<()> {
    if std.dtype().is_complex() {
        return Err(BadArgument::dtype("std", std.dtype(), DTypes::Real).into());
    }
    normal_(result, 0.0, 1.0, generator).map_err(|error| rename_self_in_error(error, "std"))?;
    crate::mul_(result, std)
}

/// Renames the argument `self` of an error to `argument`.
fn rename_self_in_error(error: Error, argument: &'static str) -> Error {
    let bad = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<BadArgument>());
    match bad {
        Some(bad) if bad.argument == "self" => BadArgument { argument: argument.into(), ..bad.clone() }.into(),
        _ => error,
    }
}
