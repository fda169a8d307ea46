//! Ones and zeros at random.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Spec};

/// Ones with the chances that `self` has, and zeros.
#[op_def("bernoulli(Tensor self, *, Generator? generator=None) -> Tensor", out = "out")]
pub fn bernoulli(this: &Tensor, generator: Option<&Generator>) -> Result<Tensor>;

#[op_impl(bernoulli, CompositeExplicitAutograd)]
fn bernoulli_any(this: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    bernoulli_tensor(this, this, generator)
}

/// Ones with the chances that `p` has, and zeros.
#[op_def(
    "bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor",
    inplace,
    out = "Tensor_out"
)]
pub fn bernoulli_tensor(this: &Tensor, p: &Tensor, generator: Option<&Generator>) -> Result<Tensor>;

#[op_meta(bernoulli_tensor)]
fn bernoulli_tensor_meta(this: &Tensor, p: &Tensor, _generator: Option<&Generator>) -> Result<Tensor> {
    check_chances(this, p)?;
    Spec::pointwise(&[this], this.dtype())?.on(Device::META)
}

/// Refuses chances that [`bernoulli_tensor`] does not take, but for their values.
pub fn check_chances(this: &Tensor, p: &Tensor) -> Result<(), BadArgument> {
    countable(this)?;
    crate::check_devices([("self", this), ("p", p)])?;
    if !p.dtype().is_floating() {
        return Err(BadArgument::dtype("p", p.dtype(), "floating"));
    }
    crate::check_broadcasts("p", p, this.sizes())
}

/// Ones with the chance `p`, and zeros.
#[op_def("bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor")]
pub fn bernoulli_p(this: &Tensor, p: f64, generator: Option<&Generator>) -> Result<Tensor>;

#[op_meta(bernoulli_p)]
fn bernoulli_p_meta(this: &Tensor, p: f64, _generator: Option<&Generator>) -> Result<Tensor> {
    check_chance(this, p)?;
    Spec::pointwise(&[this], this.dtype())?.on(Device::META)
}

/// Ones with the chance `p`, and zeros, in place.
#[op_def("bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)")]
pub fn bernoulli__float(this: &mut Tensor, p: f64, generator: Option<&Generator>) -> Result<()>;

#[op_meta(bernoulli__float)]
fn bernoulli_float_meta(this: &mut Tensor, p: f64, _generator: Option<&Generator>) -> Result<()> {
    check_chance(this, p)?;
    this.storage().bump_version();
    Ok(())
}

/// Refuses what [`bernoulli__float`] does not take.
pub fn check_chance(this: &Tensor, p: f64) -> Result<(), BadArgument> {
    countable(this)?;
    if (0.0..=1.0).contains(&p) { Ok(()) } else { Err(BadArgument::value("p", p, "between 0 and 1")) }
}

fn countable(this: &Tensor) -> Result<(), BadArgument> {
    if this.dtype().is_complex() { Err(BadArgument::dtype("self", this.dtype(), "real")) } else { Ok(()) }
}
