//! Comparisons: of elements, and of whole tensors (`equal`, `isclose`, `allclose`).

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Bool};

use crate::{abs, add_scalar, all, bitwise_and_, bitwise_or_, isfinite, isnan, mul_scalar, sub, to_device, to_dtype};

/// `self == other`
#[op_def("eq.Tensor(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = bool, dtypes(all), float8, inplace, out = "Tensor_out")]
pub fn eq(_: ...) -> Result<Tensor>;

/// `self == other` for a scalar `other`
#[op_def("eq.Scalar(Tensor self, Scalar other) -> Tensor", inplace, out = "Scalar_out", calls = eq(this, &Tensor::number(other)))]
pub fn eq_scalar(_: ...) -> Result<Tensor>;

/// `self != other`
#[op_def("ne.Tensor(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = bool, dtypes(all), float8, inplace, out = "Tensor_out")]
pub fn ne(_: ...) -> Result<Tensor>;

/// `self != other` for a scalar `other`
#[op_def("ne.Scalar(Tensor self, Scalar other) -> Tensor", inplace, out = "Scalar_out", calls = ne(this, &Tensor::number(other)))]
pub fn ne_scalar(_: ...) -> Result<Tensor>;

/// `self < other`
#[op_def("lt.Tensor(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = bool, dtypes(floating, integral), inplace, out = "Tensor_out")]
pub fn lt(_: ...) -> Result<Tensor>;

/// `self < other` for a scalar `other`
#[op_def("lt.Scalar(Tensor self, Scalar other) -> Tensor", inplace, out = "Scalar_out", calls = lt(this, &Tensor::number(other)))]
pub fn lt_scalar(_: ...) -> Result<Tensor>;

/// `self <= other`
#[op_def("le.Tensor(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = bool, dtypes(floating, integral), inplace, out = "Tensor_out")]
pub fn le(_: ...) -> Result<Tensor>;

/// `self <= other` for a scalar `other`
#[op_def("le.Scalar(Tensor self, Scalar other) -> Tensor", inplace, out = "Scalar_out", calls = le(this, &Tensor::number(other)))]
pub fn le_scalar(_: ...) -> Result<Tensor>;

/// `self > other`
#[op_def("gt.Tensor(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = bool, dtypes(floating, integral), inplace, out = "Tensor_out")]
pub fn gt(_: ...) -> Result<Tensor>;

/// `self > other` for a scalar `other`
#[op_def("gt.Scalar(Tensor self, Scalar other) -> Tensor", inplace, out = "Scalar_out", calls = gt(this, &Tensor::number(other)))]
pub fn gt_scalar(_: ...) -> Result<Tensor>;

/// `self >= other`
#[op_def("ge.Tensor(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = bool, dtypes(floating, integral), inplace, out = "Tensor_out")]
pub fn ge(_: ...) -> Result<Tensor>;

/// `self >= other` for a scalar `other`
#[op_def("ge.Scalar(Tensor self, Scalar other) -> Tensor", inplace, out = "Scalar_out", calls = ge(this, &Tensor::number(other)))]
pub fn ge_scalar(_: ...) -> Result<Tensor>;

/// Whether two tensors have the same sizes and elements.
#[op_def("equal(Tensor self, Tensor other) -> bool", data_dependent, body = CompositeExplicitAutograd)]
pub fn equal(this: &Tensor, other: &Tensor) -> Result<bool> {
    if this.sizes() != other.sizes() {
        return Ok(false);
    }
    read_bool(&all(&eq(this, other)?)?)
}

/// Refuses tensors that do not broadcast. With `equal_nan`, `other` must broadcast to the sizes of `self`.
fn check_isclose_sizes(this: &Tensor, other: &Tensor, equal_nan: bool) -> Result<(), BadArgument> {
    crate::check_broadcast([("self", this), ("other", other)])?;
    if equal_nan { crate::check_broadcasts_to_tensor(("other", other), ("self", this)) } else { Ok(()) }
}

/// Whether `|self - other| <= atol + rtol * |other|`, for each pair of elements
#[op_def(
    "isclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
    check = check_isclose_sizes(this, other, equal_nan)
)]
pub fn isclose(this: &Tensor, other: &Tensor, rtol: f64, atol: f64, equal_nan: bool) -> Result<Tensor> {
    if this.dtype() != other.dtype() {
        return Err(BadArgument::dtype("other", other.dtype(), this.dtype()).like("self").into());
    }
    for (name, tolerance) in [("rtol", rtol), ("atol", atol)] {
        if tolerance < 0.0 || tolerance.is_nan() {
            return Err(BadArgument::number(name, tolerance, 0..).into());
        }
    }
    let mut close = eq(this, other)?;
    let is_floating_or_complex = this.dtype().is_floating() || this.dtype().is_complex();
    if equal_nan && is_floating_or_complex {
        let mut both = isnan(this)?;
        bitwise_and_(&mut both, &isnan(other)?)?;
        bitwise_or_(&mut close, &both)?;
    }
    if rtol == 0.0 && atol == 0.0 {
        return Ok(close);
    }
    let to_floating = |tensor: &Tensor| {
        if is_floating_or_complex { Ok(tensor.clone()) } else { to_dtype(tensor, DType::F32, false, false, None) }
    };
    let (this, other) = (to_floating(this)?, to_floating(other)?);
    let allowed = add_scalar(&abs(&mul_scalar(&other, Scalar::Float(rtol))?)?, Scalar::Float(atol), Scalar::Int(1))?;
    let actual = abs(&sub(&this, &other, Scalar::Int(1))?)?;
    let mut near = isfinite(&actual)?;
    bitwise_and_(&mut near, &le(&actual, &allowed)?)?;
    bitwise_or_(&mut close, &near)?;
    Ok(close)
}

/// Whether all pairs of elements of two tensors are close, as [`isclose`] defines it.
#[op_def(
    "allclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, bool equal_nan=False) -> bool",
    data_dependent, body = CompositeExplicitAutograd
)]
pub fn allclose(this: &Tensor, other: &Tensor, rtol: f64, atol: f64, equal_nan: bool) -> Result<bool> {
    read_bool(&all(&isclose(this, other, rtol, atol, equal_nan)?)?)
}

/// Reads the only element of a boolean tensor.
fn read_bool(truth: &Tensor) -> Result<bool> {
    let host = to_device(truth, Device::CPU, DType::Bool, false, false, None)?;
    Ok(host.to_vec::<Bool>()?.iter().all(|truth| truth.0 != 0))
}
