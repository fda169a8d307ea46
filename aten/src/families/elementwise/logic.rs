//! Bitwise and logical operators, and tests for NaN, infinity and sign.

use dispatch_runtime::prelude::*;

/// `self & other`, bit by bit
#[op_def("bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor", operator = BitAnd, shape = pointwise, dtypes(integral), inplace, out = "Tensor_out")]
pub fn bitwise_and(_: ...) -> Result<Tensor>;

/// `self & other`, bit by bit, for a scalar `other`
#[op_def("bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor", inplace, out = "Scalar_out", calls = bitwise_and(this, &Tensor::number(other)))]
pub fn bitwise_and_scalar(_: ...) -> Result<Tensor>;

/// `self & other`, bit by bit, for a scalar `self`
#[op_def("bitwise_and.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", out = "Scalar_Tensor_out", calls = bitwise_and(&Tensor::number(this), other))]
pub fn bitwise_and_scalar_tensor(_: ...) -> Result<Tensor>;

/// `self | other`, bit by bit
#[op_def("bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor", operator = BitOr, shape = pointwise, dtypes(integral), inplace, out = "Tensor_out")]
pub fn bitwise_or(_: ...) -> Result<Tensor>;

/// `self | other`, bit by bit, for a scalar `other`
#[op_def("bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor", inplace, out = "Scalar_out", calls = bitwise_or(this, &Tensor::number(other)))]
pub fn bitwise_or_scalar(_: ...) -> Result<Tensor>;

/// `self | other`, bit by bit, for a scalar `self`
#[op_def("bitwise_or.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", out = "Scalar_Tensor_out", calls = bitwise_or(&Tensor::number(this), other))]
pub fn bitwise_or_scalar_tensor(_: ...) -> Result<Tensor>;

/// `self ^ other` (exclusive or), bit by bit
#[op_def("bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor", operator = BitXor, shape = pointwise, dtypes(integral), inplace, out = "Tensor_out")]
pub fn bitwise_xor(_: ...) -> Result<Tensor>;

/// `self ^ other` (exclusive or), bit by bit, for a scalar `other`
#[op_def("bitwise_xor.Scalar(Tensor self, Scalar other) -> Tensor", inplace, out = "Scalar_out", calls = bitwise_xor(this, &Tensor::number(other)))]
pub fn bitwise_xor_scalar(_: ...) -> Result<Tensor>;

/// `self ^ other` (exclusive or), bit by bit, for a scalar `self`
#[op_def("bitwise_xor.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", out = "Scalar_Tensor_out", calls = bitwise_xor(&Tensor::number(this), other))]
pub fn bitwise_xor_scalar_tensor(_: ...) -> Result<Tensor>;

/// `!self`, bit by bit
#[op_def("bitwise_not(Tensor self) -> Tensor", operator = Not, shape = pointwise, dtypes(integral), inplace, out = "out")]
pub fn bitwise_not(_: ...) -> Result<Tensor>;

/// `self << other`
#[op_def("bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor", operator = Shl, shape = pointwise, dtypes(integral), inplace, out = "Tensor_out")]
pub fn bitwise_left_shift(_: ...) -> Result<Tensor>;

/// `self << other` for a scalar `other`
#[op_def("bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor", inplace, out = "Tensor_Scalar_out", calls = bitwise_left_shift(this, &Tensor::number(other)))]
pub fn bitwise_left_shift_tensor_scalar(_: ...) -> Result<Tensor>;

/// `self << other` for a scalar `self`
#[op_def("bitwise_left_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", out = "Scalar_Tensor_out", calls = bitwise_left_shift(&Tensor::number(this), other))]
pub fn bitwise_left_shift_scalar_tensor(_: ...) -> Result<Tensor>;

/// `self >> other`
#[op_def("bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor", operator = Shr, shape = pointwise, dtypes(integral), inplace, out = "Tensor_out")]
pub fn bitwise_right_shift(_: ...) -> Result<Tensor>;

/// `self >> other` for a scalar `other`
#[op_def("bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor", inplace, out = "Tensor_Scalar_out", calls = bitwise_right_shift(this, &Tensor::number(other)))]
pub fn bitwise_right_shift_tensor_scalar(_: ...) -> Result<Tensor>;

/// `self >> other` for a scalar `self`
#[op_def("bitwise_right_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", out = "Scalar_Tensor_out", calls = bitwise_right_shift(&Tensor::number(this), other))]
pub fn bitwise_right_shift_scalar_tensor(_: ...) -> Result<Tensor>;

/// Whether both elements are nonzero
#[op_def("logical_and(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = bool, dtypes(all), inplace, out = "out")]
pub fn logical_and(_: ...) -> Result<Tensor>;

/// Whether at least one of two elements is nonzero
#[op_def("logical_or(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = bool, dtypes(all), inplace, out = "out")]
pub fn logical_or(_: ...) -> Result<Tensor>;

/// Whether exactly one of two elements is nonzero
#[op_def("logical_xor(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = bool, dtypes(all), inplace, out = "out")]
pub fn logical_xor(_: ...) -> Result<Tensor>;

/// Whether each element is zero
#[op_def("logical_not(Tensor self) -> Tensor", shape = pointwise, dtype = bool, dtypes(all), inplace, out = "out")]
pub fn logical_not(_: ...) -> Result<Tensor>;

/// Whether each element is NaN
#[op_def("isnan(Tensor self) -> Tensor", shape = pointwise, dtype = bool, dtypes(all), float8, out = "out")]
pub fn isnan(_: ...) -> Result<Tensor>;

/// Whether each element is infinite
#[op_def("isinf(Tensor self) -> Tensor", shape = pointwise, dtype = bool, dtypes(all), float8, out = "out")]
pub fn isinf(_: ...) -> Result<Tensor>;

/// Whether each element is positive infinity
#[op_def("isposinf(Tensor self) -> Tensor", shape = pointwise, dtype = bool, dtypes(floating, integral), out = "out")]
pub fn isposinf(_: ...) -> Result<Tensor>;

/// Whether each element is negative infinity
#[op_def("isneginf(Tensor self) -> Tensor", shape = pointwise, dtype = bool, dtypes(floating, integral), out = "out")]
pub fn isneginf(_: ...) -> Result<Tensor>;

/// Whether each element is neither infinite nor NaN
#[op_def("isfinite(Tensor self) -> Tensor", shape = pointwise, dtype = bool, dtypes(all), float8)]
pub fn isfinite(_: ...) -> Result<Tensor>;

/// Whether the sign of each element is minus, also for negative zero
#[op_def("signbit(Tensor self) -> Tensor", shape = pointwise, dtype = bool, dtypes(floating, integral), out = "out")]
pub fn signbit(_: ...) -> Result<Tensor>;
