//! Numbers of continuous distributions.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Spec};

use super::{check_fraction, within};

/// The outline of a filled tensor.
fn outline(this: &Tensor) -> Result<Tensor> {
    Spec::pointwise(&[this], this.dtype())?.on(Device::META)
}

/// Numbers between `from` and `to`, each as likely.
#[op_def(
    "uniform(Tensor self, float from=0., float to=1., *, Generator? generator=None) -> Tensor",
    inplace,
    out = "out"
)]
pub fn uniform(this: &Tensor, from: f64, to: f64, generator: Option<&Generator>) -> Result<Tensor>;

#[op_meta(uniform)]
fn uniform_meta(this: &Tensor, from: f64, to: f64, _generator: Option<&Generator>) -> Result<Tensor> {
    check_uniform(this, from, to)?;
    outline(this)
}

/// Refuses what [`uniform`] does not take.
pub fn check_uniform(this: &Tensor, from: f64, to: f64) -> Result<(), BadArgument> {
    check_fraction(this, true)?;
    let most = largest(this.dtype());
    within("from", from, from.abs() <= most, &format!("between -{most} and {most}, which {} can hold", this.dtype()))?;
    let expected = format!("at least `from`, which is {from}, and at most {most} above it");
    within("to", to, from <= to && to <= most && to - from <= most, &expected)
}

/// The greatest number of the dtype of uniform numbers.
fn largest(dtype: DType) -> f64 {
    match dtype {
        DType::F64 | DType::C128 => f64::MAX,
        DType::F16 => 65504.0,
        _ => f64::from(f32::MAX),
    }
}

/// Numbers of the normal distribution.
#[op_def("normal_functional(Tensor self, float mean=0., float std=1., *, Generator? generator=None) -> Tensor")]
pub fn normal_functional(this: &Tensor, mean: f64, std: f64, generator: Option<&Generator>) -> Result<Tensor>;

#[op_meta(normal_functional)]
fn normal_functional_meta(this: &Tensor, mean: f64, std: f64, _generator: Option<&Generator>) -> Result<Tensor> {
    let _ = mean;
    check_normal(this, std)?;
    outline(this)
}

/// Numbers of the normal distribution, in place.
#[op_def("normal_(Tensor(a!) self, float mean=0., float std=1., *, Generator? generator=None) -> Tensor(a!)")]
pub fn normal_(this: &mut Tensor, mean: f64, std: f64, generator: Option<&Generator>) -> Result<()>;

#[op_meta(normal_)]
fn normal_meta(this: &mut Tensor, mean: f64, std: f64, _generator: Option<&Generator>) -> Result<()> {
    let _ = mean;
    check_normal(this, std)?;
    this.storage().bump_version();
    Ok(())
}

/// Refuses what [`normal_`] does not take.
pub fn check_normal(this: &Tensor, std: f64) -> Result<(), BadArgument> {
    check_fraction(this, true)?;
    within("std", std, std >= 0.0, "zero or more")
}

/// Numbers of the exponential distribution of rate `lambd`; none is zero.
#[op_def("exponential(Tensor self, float lambd=1., *, Generator? generator=None) -> Tensor", inplace, out = "out")]
pub fn exponential(this: &Tensor, lambd: f64, generator: Option<&Generator>) -> Result<Tensor>;

#[op_meta(exponential)]
fn exponential_meta(this: &Tensor, lambd: f64, _generator: Option<&Generator>) -> Result<Tensor> {
    check_exponential(this, lambd)?;
    outline(this)
}

/// Refuses what [`exponential`] does not take.
pub fn check_exponential(this: &Tensor, lambd: f64) -> Result<(), BadArgument> {
    check_fraction(this, false)?;
    within("lambd", lambd, lambd > 0.0, "above zero")
}

/// Numbers of the Cauchy distribution.
#[op_def(
    "cauchy(Tensor self, float median=0., float sigma=1., *, Generator? generator=None) -> Tensor",
    inplace,
    out = "out"
)]
pub fn cauchy(this: &Tensor, median: f64, sigma: f64, generator: Option<&Generator>) -> Result<Tensor>;

#[op_meta(cauchy)]
fn cauchy_meta(this: &Tensor, median: f64, sigma: f64, _generator: Option<&Generator>) -> Result<Tensor> {
    let _ = median;
    check_cauchy(this, sigma)?;
    outline(this)
}

/// Refuses what [`cauchy`] does not take.
pub fn check_cauchy(this: &Tensor, sigma: f64) -> Result<(), BadArgument> {
    check_fraction(this, false)?;
    within("sigma", sigma, sigma > 0.0, "above zero")
}

/// `e` to the power of numbers of the normal distribution.
#[op_def(
    "log_normal(Tensor self, float mean=1., float std=2., *, Generator? generator=None) -> Tensor",
    inplace,
    out = "out"
)]
pub fn log_normal(this: &Tensor, mean: f64, std: f64, generator: Option<&Generator>) -> Result<Tensor>;

#[op_meta(log_normal)]
fn log_normal_meta(this: &Tensor, mean: f64, std: f64, _generator: Option<&Generator>) -> Result<Tensor> {
    let _ = mean;
    check_log_normal(this, std)?;
    outline(this)
}

/// Refuses what [`log_normal`] does not take.
pub fn check_log_normal(this: &Tensor, std: f64) -> Result<(), BadArgument> {
    check_fraction(this, false)?;
    within("std", std, std > 0.0, "above zero")
}

/// How many tries with the chance `p` it takes to succeed.
#[op_def("geometric(Tensor self, float p, *, Generator? generator=None) -> Tensor", inplace, out = "out")]
pub fn geometric(this: &Tensor, p: f64, generator: Option<&Generator>) -> Result<Tensor>;

#[op_meta(geometric)]
fn geometric_meta(this: &Tensor, p: f64, _generator: Option<&Generator>) -> Result<Tensor> {
    check_geometric(this, p)?;
    outline(this)
}

/// Refuses what [`geometric`] does not take.
pub fn check_geometric(this: &Tensor, p: f64) -> Result<(), BadArgument> {
    if this.dtype() == DType::Bool || this.dtype().is_complex() {
        return Err(BadArgument::dtype("self", this.dtype(), "floating or integral"));
    }
    within("p", p, 0.0 < p && p < 1.0, "above 0 and below 1")
}
