//! Bits and truth.

use dispatch_runtime::prelude::*;

/// `self & other`, bit by bit
#[op_def("bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor", operator = BitAnd, shape = pointwise, inplace, out = "Tensor_out")]
pub fn bitwise_and(this: &Tensor, other: &Tensor) -> Result<Tensor>;

/// `self & other`, of a number
#[op_def("bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor")]
pub fn bitwise_and_scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
    bitwise_and(this, &Tensor::number(other))
}

/// `self & other`, of a number, in place
#[op_def("bitwise_and_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)")]
pub fn bitwise_and__scalar(this: &mut Tensor, other: Scalar) -> Result<()> {
    bitwise_and_(this, &Tensor::number(other))
}

/// `self & other`, of a number, into a tensor of the caller's
#[op_def("bitwise_and.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)")]
pub fn bitwise_and_scalar_out(this: &Tensor, other: Scalar, out: &mut Tensor) -> Result<()> {
    bitwise_and_tensor_out(this, &Tensor::number(other), out)
}

/// `self | other`, bit by bit
#[op_def("bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor", operator = BitOr, shape = pointwise, inplace, out = "Tensor_out")]
pub fn bitwise_or(this: &Tensor, other: &Tensor) -> Result<Tensor>;

/// `self | other`, of a number
#[op_def("bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor")]
pub fn bitwise_or_scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
    bitwise_or(this, &Tensor::number(other))
}

/// `self | other`, of a number, in place
#[op_def("bitwise_or_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)")]
pub fn bitwise_or__scalar(this: &mut Tensor, other: Scalar) -> Result<()> {
    bitwise_or_(this, &Tensor::number(other))
}

/// `self | other`, of a number, into a tensor of the caller's
#[op_def("bitwise_or.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)")]
pub fn bitwise_or_scalar_out(this: &Tensor, other: Scalar, out: &mut Tensor) -> Result<()> {
    bitwise_or_tensor_out(this, &Tensor::number(other), out)
}

/// `self ^ other`, bit by bit
#[op_def("bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor", operator = BitXor, shape = pointwise, inplace, out = "Tensor_out")]
pub fn bitwise_xor(this: &Tensor, other: &Tensor) -> Result<Tensor>;

/// `self ^ other`, of a number
#[op_def("bitwise_xor.Scalar(Tensor self, Scalar other) -> Tensor")]
pub fn bitwise_xor_scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
    bitwise_xor(this, &Tensor::number(other))
}

/// `self ^ other`, of a number, in place
#[op_def("bitwise_xor_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)")]
pub fn bitwise_xor__scalar(this: &mut Tensor, other: Scalar) -> Result<()> {
    bitwise_xor_(this, &Tensor::number(other))
}

/// `self ^ other`, of a number, into a tensor of the caller's
#[op_def("bitwise_xor.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)")]
pub fn bitwise_xor_scalar_out(this: &Tensor, other: Scalar, out: &mut Tensor) -> Result<()> {
    bitwise_xor_tensor_out(this, &Tensor::number(other), out)
}

/// `!self`, bit by bit
#[op_def("bitwise_not(Tensor self) -> Tensor", operator = Not, shape = pointwise, inplace, out = "out")]
pub fn bitwise_not(this: &Tensor) -> Result<Tensor>;

/// `self << other`
#[op_def("bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor", operator = Shl, shape = pointwise, inplace, out = "Tensor_out")]
pub fn bitwise_left_shift(this: &Tensor, other: &Tensor) -> Result<Tensor>;

/// `self << other`, of a number
#[op_def("bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor")]
pub fn bitwise_left_shift_tensor_scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
    bitwise_left_shift(this, &Tensor::number(other))
}

/// `self << other`, of a number, in place
#[op_def("bitwise_left_shift_.Tensor_Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)")]
pub fn bitwise_left_shift__tensor_scalar(this: &mut Tensor, other: Scalar) -> Result<()> {
    bitwise_left_shift_(this, &Tensor::number(other))
}

/// `self << other`, of a number, into a tensor of the caller's
#[op_def("bitwise_left_shift.Tensor_Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)")]
pub fn bitwise_left_shift_tensor_scalar_out(this: &Tensor, other: Scalar, out: &mut Tensor) -> Result<()> {
    bitwise_left_shift_tensor_out(this, &Tensor::number(other), out)
}

/// `self >> other`
#[op_def("bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor", operator = Shr, shape = pointwise, inplace, out = "Tensor_out")]
pub fn bitwise_right_shift(this: &Tensor, other: &Tensor) -> Result<Tensor>;

/// `self >> other`, of a number
#[op_def("bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor")]
pub fn bitwise_right_shift_tensor_scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
    bitwise_right_shift(this, &Tensor::number(other))
}

/// `self >> other`, of a number, in place
#[op_def("bitwise_right_shift_.Tensor_Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)")]
pub fn bitwise_right_shift__tensor_scalar(this: &mut Tensor, other: Scalar) -> Result<()> {
    bitwise_right_shift_(this, &Tensor::number(other))
}

/// `self >> other`, of a number, into a tensor of the caller's
#[op_def("bitwise_right_shift.Tensor_Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)")]
pub fn bitwise_right_shift_tensor_scalar_out(this: &Tensor, other: Scalar, out: &mut Tensor) -> Result<()> {
    bitwise_right_shift_tensor_out(this, &Tensor::number(other), out)
}

/// `and` of what is not zero
#[op_def("logical_and(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = bool, inplace, out = "out")]
pub fn logical_and(this: &Tensor, other: &Tensor) -> Result<Tensor>;

/// `or` of what is not zero
#[op_def("logical_or(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = bool, inplace, out = "out")]
pub fn logical_or(this: &Tensor, other: &Tensor) -> Result<Tensor>;

/// `xor` of what is not zero
#[op_def("logical_xor(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = bool, inplace, out = "out")]
pub fn logical_xor(this: &Tensor, other: &Tensor) -> Result<Tensor>;

/// Whether it is zero
#[op_def("logical_not(Tensor self) -> Tensor", shape = pointwise, dtype = bool, inplace, out = "out")]
pub fn logical_not(this: &Tensor) -> Result<Tensor>;

/// Whether it is NaN
#[op_def("isnan(Tensor self) -> Tensor", shape = pointwise, dtype = bool, out = "out")]
pub fn isnan(this: &Tensor) -> Result<Tensor>;

/// Whether it is infinite
#[op_def("isinf(Tensor self) -> Tensor", shape = pointwise, dtype = bool, out = "out")]
pub fn isinf(this: &Tensor) -> Result<Tensor>;

/// Whether it is positive infinity
#[op_def("isposinf(Tensor self) -> Tensor", shape = pointwise, dtype = bool, out = "out")]
pub fn isposinf(this: &Tensor) -> Result<Tensor>;

/// Whether it is negative infinity
#[op_def("isneginf(Tensor self) -> Tensor", shape = pointwise, dtype = bool, out = "out")]
pub fn isneginf(this: &Tensor) -> Result<Tensor>;

/// Whether it is neither infinite nor NaN
#[op_def("isfinite(Tensor self) -> Tensor", shape = pointwise, dtype = bool)]
pub fn isfinite(this: &Tensor) -> Result<Tensor>;

/// Whether the sign is minus, of zero too
#[op_def("signbit(Tensor self) -> Tensor", shape = pointwise, dtype = bool, out = "out")]
pub fn signbit(this: &Tensor) -> Result<Tensor>;
