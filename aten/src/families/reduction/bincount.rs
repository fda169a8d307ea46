//! Counts of integers (`bincount`) and of elements in equal bins (`histc`).

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Spec};

/// Counts each integer from zero to the largest element, or sums the weights of each.
#[op_def(
    "bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor",
    plan,
    data_dependent,
    out = "out"
)]
pub fn bincount(_: ...) -> Result<Tensor>;

#[op_plan(bincount)]
fn bincount_plan(this: &Tensor, weights: Option<&Tensor>, minlength: i64) -> Result<Plan<(), 0>, BadArgument> {
    if !this.dtype().is_integral() {
        return Err(BadArgument::dtype("self", this.dtype(), DTypes::Integral));
    }
    if this.sizes().len() != 1 {
        return Err(BadArgument::rank("self", this.sizes().len(), 1));
    }
    if minlength < 0 {
        return Err(BadArgument::number("minlength", minlength, 0..));
    }
    match weights {
        Some(weights) if weights.sizes() != this.sizes() => {
            Err(BadArgument::sizes("weights", weights.sizes(), this.sizes()))
        }
        _ => Ok(Plan::without_outputs(())),
    }
}

/// Counts the elements in each of `bins` equal bins from `min` to `max`. If both are equal, the bins span the elements' range.
#[op_def("histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor", plan, out = "out")]
pub fn histc(_: ...) -> Result<Tensor>;

#[op_plan(histc)]
fn histc_plan(this: &Tensor, bins: i64, min: Scalar, max: Scalar) -> Result<Plan<()>, BadArgument> {
    if bins < 1 {
        return Err(BadArgument::number("bins", bins, 1..));
    }
    if !this.dtype().is_floating() {
        return Err(BadArgument::dtype("self", this.dtype(), DTypes::Floating));
    }
    for (name, value) in [("min", min), ("max", max)] {
        if !value.to_f64().is_some_and(f64::is_finite) {
            return Err(BadArgument::value(name, value, "finite"));
        }
    }
    crate::check_scalars_fit(this.dtype(), [("min", min), ("max", max)])?;
    if min.to_f64() > max.to_f64() {
        return Err(BadArgument::number("max", max, min..).like("min"));
    }
    Ok(Plan::new((), [Spec::contiguous(this.dtype(), &[bins])]))
}
