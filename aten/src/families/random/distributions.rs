//! Random numbers of continuous distributions, and of the geometric distribution.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Expected};

use super::{check_floating, check_in_range, plan_with_output_like};

/// Draws numbers of the uniform distribution between `from` and `to`, in the sizes of `self`.
#[op_def(
    "uniform(Tensor self, float from=0., float to=1., *, Generator? generator=None) -> Tensor",
    plan,
    inplace,
    out = "out"
)]
pub fn uniform(_: ...) -> Result<Tensor>;

#[op_plan(uniform)]
fn uniform_plan(this: &Tensor, from: f64, to: f64) -> Result<Plan<()>, BadArgument> {
    check_floating(this, true)?;
    let max = max_finite_of_dtype(this.dtype());
    check_in_range("from", from, from.abs() <= max, (-max..=max).into())?;
    let highest = (from + max).min(max);
    check_in_range("to", to, from <= to && to <= max && to - from <= max, (from..=highest).into())?;
    Ok(plan_with_output_like(this, ()))
}

/// Returns the largest finite value of the dtype in which uniform numbers are computed.
fn max_finite_of_dtype(dtype: DType) -> f64 {
    match dtype {
        DType::F64 | DType::C128 => f64::MAX,
        DType::F16 => 65504.0,
        _ => f64::from(f32::MAX),
    }
}

/// Draws numbers of the normal distribution, in the sizes of `self`.
#[op_def(
    "normal_functional(Tensor self, float mean=0., float std=1., *, Generator? generator=None) -> Tensor",
    body = CompositeExplicitAutograd
)]
pub fn normal_functional(this: &Tensor, mean: f64, std: f64, generator: Option<&Generator>) -> Result<Tensor> {
    let mut result = crate::empty_like(this, None, None, None, None, None)?;
    normal_(&mut result, mean, std, generator)?;
    Ok(result)
}

/// Fills `self` with numbers of the normal distribution.
#[op_def("normal_(Tensor(a!) self, float mean=0., float std=1., *, Generator? generator=None) -> Tensor(a!)", plan)]
pub fn normal_(_: ...) -> Result<()>;

#[op_plan(normal_)]
fn normal_plan(this: &Tensor, std: f64) -> Result<Plan<(), 0>, BadArgument> {
    check_floating(this, true)?;
    check_in_range("std", std, std >= 0.0, (0..).into()).map(Plan::without_outputs)
}

/// Draws numbers of the exponential distribution with rate `lambd`, in the sizes of `self`. No number is zero.
#[op_def(
    "exponential(Tensor self, float lambd=1., *, Generator? generator=None) -> Tensor",
    plan,
    inplace,
    out = "out"
)]
pub fn exponential(_: ...) -> Result<Tensor>;

#[op_plan(exponential)]
fn exponential_plan(this: &Tensor, lambd: f64) -> Result<Plan<()>, BadArgument> {
    check_floating(this, false)?;
    check_in_range("lambd", lambd, lambd > 0.0, Expected::Above(0.into()))?;
    Ok(plan_with_output_like(this, ()))
}

/// Draws numbers of the Cauchy distribution, in the sizes of `self`.
#[op_def(
    "cauchy(Tensor self, float median=0., float sigma=1., *, Generator? generator=None) -> Tensor",
    plan,
    inplace,
    out = "out"
)]
pub fn cauchy(_: ...) -> Result<Tensor>;

#[op_plan(cauchy)]
fn cauchy_plan(this: &Tensor, sigma: f64) -> Result<Plan<()>, BadArgument> {
    check_floating(this, false)?;
    check_in_range("sigma", sigma, sigma > 0.0, Expected::Above(0.into()))?;
    Ok(plan_with_output_like(this, ()))
}

/// Draws numbers of the log-normal distribution: `exp` of normal numbers, in the sizes of `self`.
#[op_def(
    "log_normal(Tensor self, float mean=1., float std=2., *, Generator? generator=None) -> Tensor",
    plan,
    inplace,
    out = "out"
)]
pub fn log_normal(_: ...) -> Result<Tensor>;

#[op_plan(log_normal)]
fn log_normal_plan(this: &Tensor, std: f64) -> Result<Plan<()>, BadArgument> {
    check_floating(this, false)?;
    check_in_range("std", std, std > 0.0, Expected::Above(0.into()))?;
    Ok(plan_with_output_like(this, ()))
}

/// Draws numbers of the geometric distribution: the number of trials up to the first success, with success probability `p`.
#[op_def("geometric(Tensor self, float p, *, Generator? generator=None) -> Tensor", plan, inplace, out = "out")]
pub fn geometric(_: ...) -> Result<Tensor>;

#[op_plan(geometric)]
fn geometric_plan(this: &Tensor, p: f64) -> Result<Plan<()>, BadArgument> {
    if this.dtype() == DType::Bool || this.dtype().is_complex() {
        return Err(BadArgument::dtype("self", this.dtype(), DTypes::FloatingOrIntegral));
    }
    let expected = if p < 1.0 { Expected::Above(0.into()) } else { Expected::Below(1.into()) };
    check_in_range("p", p, 0.0 < p && p < 1.0, expected)?;
    Ok(plan_with_output_like(this, ()))
}
