//! Elementwise maximum, minimum and clamping.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, result_dtype};

/// The larger of two elements; NaN if either is NaN
#[op_def("maximum(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtypes(floating, integral), out = "out")]
pub fn maximum(_: ...) -> Result<Tensor>;

/// The smaller of two elements; NaN if either is NaN
#[op_def("minimum(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtypes(floating, integral), out = "out")]
pub fn minimum(_: ...) -> Result<Tensor>;

/// Another name of [`maximum`].
#[op_def("max.other(Tensor self, Tensor other) -> Tensor", out = "out", calls = maximum)]
pub fn max_other(_: ...) -> Result<Tensor>;

/// Another name of [`minimum`].
#[op_def("min.other(Tensor self, Tensor other) -> Tensor", out = "out", calls = minimum)]
pub fn min_other(_: ...) -> Result<Tensor>;

/// The larger of two elements; if one is NaN, the other
#[op_def("fmax(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtypes(floating, integral), out = "out")]
pub fn fmax(_: ...) -> Result<Tensor>;

/// The smaller of two elements; if one is NaN, the other
#[op_def("fmin(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtypes(floating, integral), out = "out")]
pub fn fmin(_: ...) -> Result<Tensor>;

/// `min(max(self, min), max)`; one of the bounds may be left out
#[op_def("clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor", shape = pointwise, check = check_has_bound(min, max), inplace, out = "Tensor_out")]
pub fn clamp_tensor(_: ...) -> Result<Tensor>;

/// `max(self, min)` for a tensor `min`
#[op_def("clamp_min.Tensor(Tensor self, Tensor min) -> Tensor", shape = pointwise, dtypes(floating, integral), inplace, out = "Tensor_out")]
pub fn clamp_min_tensor(_: ...) -> Result<Tensor>;

/// `min(self, max)` for a tensor `max`
#[op_def("clamp_max.Tensor(Tensor self, Tensor max) -> Tensor", shape = pointwise, dtypes(floating, integral), inplace, out = "Tensor_out")]
pub fn clamp_max_tensor(_: ...) -> Result<Tensor>;

/// `min(max(self, min), max)` for scalar bounds, one of which may be left out
#[op_def("clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", inplace, out = "out", calls = clamp_tensor(this, min.map(|min| lower_bound_tensor(this, "min", min)).transpose()?.as_ref(), max.map(|max| upper_bound_tensor(this, "max", max)).transpose()?.as_ref()))]
pub fn clamp(_: ...) -> Result<Tensor>;

/// `max(self, min)` for a scalar `min`
#[op_def("clamp_min(Tensor self, Scalar min) -> Tensor", inplace, out = "out", calls = clamp_min_tensor(this, &lower_bound_tensor(this, "min", min)?))]
pub fn clamp_min(_: ...) -> Result<Tensor>;

/// `min(self, max)` for a scalar `max`
#[op_def("clamp_max(Tensor self, Scalar max) -> Tensor", inplace, out = "out", calls = clamp_max_tensor(this, &upper_bound_tensor(this, "max", max)?))]
pub fn clamp_max(_: ...) -> Result<Tensor>;

/// Converts a number that is a lower bound to a tensor. Refuses a number that the result cannot have.
pub(crate) fn lower_bound_tensor(this: &Tensor, name: &'static str, min: Scalar) -> Result<Tensor, BadArgument> {
    let bound = clamped_bound_tensor(this, min);
    crate::check_bounds_fit(result_dtype([this, &bound]), (name, Some(min)), ("max", None))?;
    Ok(bound)
}

/// Converts a number that is an upper bound to a tensor. Refuses a number that the result cannot have.
pub(crate) fn upper_bound_tensor(this: &Tensor, name: &'static str, max: Scalar) -> Result<Tensor, BadArgument> {
    let bound = clamped_bound_tensor(this, max);
    crate::check_bounds_fit(result_dtype([this, &bound]), ("min", None), (name, Some(max)))?;
    Ok(bound)
}

/// Converts a scalar bound to a tensor. An integer bound is first clamped to the range of the dtype of `this`.
fn clamped_bound_tensor(this: &Tensor, number: Scalar) -> Tensor {
    let (least, most) = this.dtype().integer_range().unwrap_or((i64::MIN, i64::MAX));
    Tensor::number(match number {
        Scalar::Int(number) => number.clamp(least, most).into(),
        Scalar::Complex(_) if this.dtype().is_floating() => number.to_f64().map_or(number, Scalar::Float),
        other => other,
    })
}

/// Refuses a call without any bound.
fn check_has_bound(min: Option<&Tensor>, max: Option<&Tensor>) -> Result<(), BadArgument> {
    match (min, max) {
        (None, None) => Err(BadArgument::value("min", "left out", "given if `max` is left out")),
        _ => Ok(()),
    }
}
