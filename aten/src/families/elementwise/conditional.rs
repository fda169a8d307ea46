//! Elementwise selection by a condition: `where`, `masked_fill` and `heaviside`.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, result_dtype};

/// `self` where the condition is true, `other` elsewhere
#[op_def("where.self(Tensor condition, Tensor self, Tensor other) -> Tensor", shape = pointwise, dtypes(all), float8, check = check_where(condition, this, other), out = "self_out")]
pub fn where_self(_: ...) -> Result<Tensor>;

/// The scalar `self` where the condition is true, the tensor `other` elsewhere
#[op_def(
    "where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor",
    check = where_self::plan(condition, &Tensor::number(this), other)
)]
pub fn where_scalarself(condition: &Tensor, this: Scalar, other: &Tensor) -> Result<Tensor> {
    let number = Tensor::number(this);
    check_scalar_fits_result("self", this, &[&number, other])?;
    where_self(condition, &number, other)
}

/// The tensor `self` where the condition is true, the scalar `other` elsewhere
#[op_def(
    "where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor",
    check = where_self::plan(condition, this, &Tensor::number(other))
)]
pub fn where_scalarother(condition: &Tensor, this: &Tensor, other: Scalar) -> Result<Tensor> {
    let number = Tensor::number(other);
    check_scalar_fits_result("other", other, &[this, &number])?;
    where_self(condition, this, &number)
}

/// The scalar `self` where the condition is true, the scalar `other` elsewhere
#[op_def("where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor")]
pub fn where_scalar(condition: &Tensor, this: Scalar, other: Scalar) -> Result<Tensor> {
    let numbers = [Tensor::number(this), Tensor::number(other)];
    for (argument, number) in [("self", this), ("other", other)] {
        check_scalar_fits_result(argument, number, &[&numbers[0], &numbers[1]])?;
    }
    where_self(condition, &numbers[0], &numbers[1])
}

/// Refuses a scalar that the result's dtype of these tensors cannot represent.
fn check_scalar_fits_result(argument: &'static str, number: Scalar, operands: &[&Tensor]) -> Result<(), BadArgument> {
    crate::check_fill_value(argument, number, result_dtype(operands.iter().copied()), 1)
}

/// `value`, a tensor of one element, where the mask is true, `self` elsewhere
#[op_def("masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor", shape = pointwise, dtype = first, dtypes(all), check = check_masked_fill(this, mask, value), inplace, out = "Tensor_out")]
pub fn masked_fill(_: ...) -> Result<Tensor>;

/// The scalar `value` where the mask is true, `self` elsewhere
#[op_def(
    "masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor",
    out = "Scalar_out",
    check = masked_fill::plan(this, mask, &fill_value_tensor(this, value))
)]
pub fn masked_fill_scalar(this: &Tensor, mask: &Tensor, value: Scalar) -> Result<Tensor> {
    masked_fill(this, mask, &fill_value_tensor(this, value))
}

/// Writes the scalar `value` where the mask is true, in place
#[op_def(
    "masked_fill_.Scalar(Tensor(a!) self, Tensor mask, Scalar value) -> Tensor(a!)",
    check = masked_fill::plan(this, mask, &fill_value_tensor(this, value))
)]
pub fn masked_fill__scalar(this: &mut Tensor, mask: &Tensor, value: Scalar) -> Result<()> {
    masked_fill_(this, mask, &fill_value_tensor(this, value))
}

/// Converts a scalar with which `this` is filled to a tensor. If `this` is boolean, a fraction such as 0.5 becomes true. A truncating cast
/// would make it false.
fn fill_value_tensor(this: &Tensor, value: Scalar) -> Tensor {
    Tensor::number(if this.dtype() == DType::Bool { value.cast(DType::Bool) } else { value })
}

/// 0 for negative numbers, 1 for positive ones, and `values` for 0
#[op_def("heaviside(Tensor self, Tensor values) -> Tensor", shape = pointwise, dtypes(floating, integral), inplace, out = "out")]
pub fn heaviside(_: ...) -> Result<Tensor>;

fn check_is_bool(name: &'static str, tensor: &Tensor) -> Result<()> {
    match tensor.dtype() {
        DType::Bool => Ok(()),
        other => Err(BadArgument::dtype(name, other, DType::Bool).into()),
    }
}

/// Checks that a condition is boolean.
///
/// # Errors
///
/// Returns [`BadArgument`] if `condition` has another dtype.
pub fn check_where(condition: &Tensor, _: &Tensor, _: &Tensor) -> Result<()> {
    check_is_bool("condition", condition)
}

/// Checks that a mask is boolean, and that `value` is a single element that the dtype of `this` can represent.
///
/// # Errors
///
/// Returns [`BadArgument`] if the mask has another dtype, if `value` has more than one element, or if the dtype of `this` cannot represent
/// it.
pub fn check_masked_fill(this: &Tensor, mask: &Tensor, value: &Tensor) -> Result<()> {
    check_is_bool("mask", mask)?;
    crate::check_fill_tensor(value)?;
    // Reading a value from another device would block, so only its dtype is checked.
    if value.device() == Device::CPU && (value.is_number() || this.dtype() != DType::Bool) {
        return Ok(value.to_scalar()?.check_fits("value", this.dtype())?);
    }
    if !value.dtype().can_cast(this.dtype()) {
        let expected = format!("a dtype that {} can hold, as `self` is", this.dtype());
        return Err(BadArgument::dtype("value", value.dtype(), expected).into());
    }
    Ok(())
}
