//! Elements of one tensor or another.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, result_dtype};

/// `self` where the condition holds, `other` elsewhere
#[op_def("where.self(Tensor condition, Tensor self, Tensor other) -> Tensor", shape = pointwise, dtypes(all), check = check_where(condition, this, other), out = "self_out")]
pub fn where_self(_: ...) -> Result<Tensor>;

/// `self`, a number, where the condition holds, `other` elsewhere
#[op_def(
    "where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor",
    check = where_self::plan(condition, &Tensor::number(this), other)
)]
pub fn where_scalarself(condition: &Tensor, this: Scalar, other: &Tensor) -> Result<Tensor> {
    let number = Tensor::number(this);
    check_chosen("self", this, &[&number, other])?;
    where_self(condition, &number, other)
}

/// `self` where the condition holds, `other`, a number, elsewhere
#[op_def(
    "where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor",
    check = where_self::plan(condition, this, &Tensor::number(other))
)]
pub fn where_scalarother(condition: &Tensor, this: &Tensor, other: Scalar) -> Result<Tensor> {
    let number = Tensor::number(other);
    check_chosen("other", other, &[this, &number])?;
    where_self(condition, this, &number)
}

/// One number where the condition holds, another elsewhere
#[op_def("where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor")]
pub fn where_scalar(condition: &Tensor, this: Scalar, other: Scalar) -> Result<Tensor> {
    let numbers = [Tensor::number(this), Tensor::number(other)];
    for (argument, number) in [("self", this), ("other", other)] {
        check_chosen(argument, number, &[&numbers[0], &numbers[1]])?;
    }
    where_self(condition, &numbers[0], &numbers[1])
}

/// Refuses a number that the result of these does not hold.
fn check_chosen(argument: &'static str, number: Scalar, among: &[&Tensor]) -> Result<(), BadArgument> {
    crate::check_filling(argument, number, result_dtype(among.iter().copied()), 1)
}

/// `value`, a single element, where the mask holds, `self` elsewhere
#[op_def("masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor", shape = pointwise, dtype = first, dtypes(all), check = check_masked_fill(this, mask, value), inplace, out = "Tensor_out")]
pub fn masked_fill(_: ...) -> Result<Tensor>;

/// A number where the mask holds, `self` elsewhere
#[op_def(
    "masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor",
    out = "Scalar_out",
    check = masked_fill::plan(this, mask, &number_for(this, value))
)]
pub fn masked_fill_scalar(this: &Tensor, mask: &Tensor, value: Scalar) -> Result<Tensor> {
    masked_fill(this, mask, &number_for(this, value))
}

/// A number where the mask holds, in place
#[op_def(
    "masked_fill_.Scalar(Tensor(a!) self, Tensor mask, Scalar value) -> Tensor(a!)",
    check = masked_fill::plan(this, mask, &number_for(this, value))
)]
pub fn masked_fill__scalar(this: &mut Tensor, mask: &Tensor, value: Scalar) -> Result<()> {
    masked_fill_(this, mask, &number_for(this, value))
}

/// A number for the elements of a tensor: a fraction is true, and not the false that it is once it is cut off.
fn number_for(this: &Tensor, value: Scalar) -> Tensor {
    Tensor::number(if this.dtype() == DType::Bool { value.cast(DType::Bool) } else { value })
}

/// 0 for negative numbers, 1 for positive ones, and `values` for 0
#[op_def("heaviside(Tensor self, Tensor values) -> Tensor", shape = pointwise, dtypes(floating, integral), inplace, out = "out")]
pub fn heaviside(_: ...) -> Result<Tensor>;

fn is_truth(name: &'static str, tensor: &Tensor) -> Result<()> {
    match tensor.dtype() {
        DType::Bool => Ok(()),
        other => Err(BadArgument::dtype(name, other, DType::Bool).into()),
    }
}

/// Makes sure that a condition is true or false.
///
/// # Errors
///
/// Where it is of another dtype.
pub fn check_where(condition: &Tensor, _: &Tensor, _: &Tensor) -> Result<()> {
    is_truth("condition", condition)
}

/// Makes sure that a mask is true or false, and that a value fits.
///
/// # Errors
///
/// Where the mask is of another dtype, or the value of one that `this` cannot hold, or more than one.
pub fn check_masked_fill(this: &Tensor, mask: &Tensor, value: &Tensor) -> Result<()> {
    is_truth("mask", mask)?;
    crate::check_single(value)?;
    // Nobody waits for one that is elsewhere: its dtype alone decides.
    if value.device() == Device::CPU && (value.is_number() || this.dtype() != DType::Bool) {
        return Ok(value.to_scalar()?.check_fits("value", this.dtype())?);
    }
    if !value.dtype().can_cast(this.dtype()) {
        let expected = format!("one that {} can hold, as `self` is", this.dtype());
        return Err(BadArgument::dtype("value", value.dtype(), expected).into());
    }
    Ok(())
}
