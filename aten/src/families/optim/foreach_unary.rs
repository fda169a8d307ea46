//! Elementwise functions of each tensor of a list.

use dispatch_runtime::prelude::*;

use crate::{
    abs, acos, asin, atan, ceil, cos, cosh, erf, erfc, exp, expm1, floor, frac, lgamma, log, log1p, log2, log10, neg,
    reciprocal, round, rsqrt, sigmoid, sign, sin, sinh, sqrt, tan, tanh, trunc,
};

/// The absolute value, for each tensor
#[op_def("_foreach_abs(Tensor[] self) -> Tensor[]", each = abs(this), inplace, out = "out")]
pub fn _foreach_abs(_: ...) -> Result<Vec<Tensor>>;

/// `-self`, for each tensor
#[op_def("_foreach_neg(Tensor[] self) -> Tensor[]", each = neg(this), inplace, out = "out")]
pub fn _foreach_neg(_: ...) -> Result<Vec<Tensor>>;

/// The sign: -1, 0 or 1, for each tensor
#[op_def("_foreach_sign(Tensor[] self) -> Tensor[]", each = sign(this), inplace, out = "out")]
pub fn _foreach_sign(_: ...) -> Result<Vec<Tensor>>;

/// The smallest integer that is not below the element, for each tensor
#[op_def("_foreach_ceil(Tensor[] self) -> Tensor[]", each = ceil(this), inplace, out = "out")]
pub fn _foreach_ceil(_: ...) -> Result<Vec<Tensor>>;

/// The largest integer that is not above the element, for each tensor
#[op_def("_foreach_floor(Tensor[] self) -> Tensor[]", each = floor(this), inplace, out = "out")]
pub fn _foreach_floor(_: ...) -> Result<Vec<Tensor>>;

/// The nearest integer; of two equally near integers, the even one, for each tensor
#[op_def("_foreach_round(Tensor[] self) -> Tensor[]", each = round(this), inplace, out = "out")]
pub fn _foreach_round(_: ...) -> Result<Vec<Tensor>>;

/// The integer part, for each tensor
#[op_def("_foreach_trunc(Tensor[] self) -> Tensor[]", each = trunc(this), inplace, out = "out")]
pub fn _foreach_trunc(_: ...) -> Result<Vec<Tensor>>;

/// The fractional part, for each tensor
#[op_def("_foreach_frac(Tensor[] self) -> Tensor[]", each = frac(this), inplace, out = "out")]
pub fn _foreach_frac(_: ...) -> Result<Vec<Tensor>>;

/// `1 / self`, for each tensor
#[op_def("_foreach_reciprocal(Tensor[] self) -> Tensor[]", each = reciprocal(this), inplace, out = "out")]
pub fn _foreach_reciprocal(_: ...) -> Result<Vec<Tensor>>;

/// `sqrt(self)`, for each tensor
#[op_def("_foreach_sqrt(Tensor[] self) -> Tensor[]", each = sqrt(this), inplace, out = "out")]
pub fn _foreach_sqrt(_: ...) -> Result<Vec<Tensor>>;

/// `1 / sqrt(self)`, for each tensor
#[op_def("_foreach_rsqrt(Tensor[] self) -> Tensor[]", each = rsqrt(this), inplace, out = "out")]
pub fn _foreach_rsqrt(_: ...) -> Result<Vec<Tensor>>;

/// `e^self`, for each tensor
#[op_def("_foreach_exp(Tensor[] self) -> Tensor[]", each = exp(this), inplace, out = "out")]
pub fn _foreach_exp(_: ...) -> Result<Vec<Tensor>>;

/// `e^self - 1`, for each tensor
#[op_def("_foreach_expm1(Tensor[] self) -> Tensor[]", each = expm1(this), inplace, out = "out")]
pub fn _foreach_expm1(_: ...) -> Result<Vec<Tensor>>;

/// The natural logarithm, for each tensor
#[op_def("_foreach_log(Tensor[] self) -> Tensor[]", each = log(this), inplace, out = "out")]
pub fn _foreach_log(_: ...) -> Result<Vec<Tensor>>;

/// The logarithm to base two, for each tensor
#[op_def("_foreach_log2(Tensor[] self) -> Tensor[]", each = log2(this), inplace, out = "out")]
pub fn _foreach_log2(_: ...) -> Result<Vec<Tensor>>;

/// The logarithm to base ten, for each tensor
#[op_def("_foreach_log10(Tensor[] self) -> Tensor[]", each = log10(this), inplace, out = "out")]
pub fn _foreach_log10(_: ...) -> Result<Vec<Tensor>>;

/// `log(1 + self)`, for each tensor
#[op_def("_foreach_log1p(Tensor[] self) -> Tensor[]", each = log1p(this), inplace, out = "out")]
pub fn _foreach_log1p(_: ...) -> Result<Vec<Tensor>>;

/// The sine, for each tensor
#[op_def("_foreach_sin(Tensor[] self) -> Tensor[]", each = sin(this), inplace, out = "out")]
pub fn _foreach_sin(_: ...) -> Result<Vec<Tensor>>;

/// The cosine, for each tensor
#[op_def("_foreach_cos(Tensor[] self) -> Tensor[]", each = cos(this), inplace, out = "out")]
pub fn _foreach_cos(_: ...) -> Result<Vec<Tensor>>;

/// The tangent, for each tensor
#[op_def("_foreach_tan(Tensor[] self) -> Tensor[]", each = tan(this), inplace, out = "out")]
pub fn _foreach_tan(_: ...) -> Result<Vec<Tensor>>;

/// The inverse sine, for each tensor
#[op_def("_foreach_asin(Tensor[] self) -> Tensor[]", each = asin(this), inplace, out = "out")]
pub fn _foreach_asin(_: ...) -> Result<Vec<Tensor>>;

/// The inverse cosine, for each tensor
#[op_def("_foreach_acos(Tensor[] self) -> Tensor[]", each = acos(this), inplace, out = "out")]
pub fn _foreach_acos(_: ...) -> Result<Vec<Tensor>>;

/// The inverse tangent, for each tensor
#[op_def("_foreach_atan(Tensor[] self) -> Tensor[]", each = atan(this), inplace, out = "out")]
pub fn _foreach_atan(_: ...) -> Result<Vec<Tensor>>;

/// The hyperbolic sine, for each tensor
#[op_def("_foreach_sinh(Tensor[] self) -> Tensor[]", each = sinh(this), inplace, out = "out")]
pub fn _foreach_sinh(_: ...) -> Result<Vec<Tensor>>;

/// The hyperbolic cosine, for each tensor
#[op_def("_foreach_cosh(Tensor[] self) -> Tensor[]", each = cosh(this), inplace, out = "out")]
pub fn _foreach_cosh(_: ...) -> Result<Vec<Tensor>>;

/// The hyperbolic tangent, for each tensor
#[op_def("_foreach_tanh(Tensor[] self) -> Tensor[]", each = tanh(this), inplace, out = "out")]
pub fn _foreach_tanh(_: ...) -> Result<Vec<Tensor>>;

/// `1 / (1 + e^-self)`, for each tensor
#[op_def("_foreach_sigmoid(Tensor[] self) -> Tensor[]", each = sigmoid(this), inplace, out = "out")]
pub fn _foreach_sigmoid(_: ...) -> Result<Vec<Tensor>>;

/// The error function, for each tensor
#[op_def("_foreach_erf(Tensor[] self) -> Tensor[]", each = erf(this), inplace, out = "out")]
pub fn _foreach_erf(_: ...) -> Result<Vec<Tensor>>;

/// `1 - erf(self)`, for each tensor
#[op_def("_foreach_erfc(Tensor[] self) -> Tensor[]", each = erfc(this), inplace, out = "out")]
pub fn _foreach_erfc(_: ...) -> Result<Vec<Tensor>>;

/// The logarithm of the absolute value of the gamma function, for each tensor
#[op_def("_foreach_lgamma(Tensor[] self) -> Tensor[]", each = lgamma(this), inplace, out = "out")]
pub fn _foreach_lgamma(_: ...) -> Result<Vec<Tensor>>;
