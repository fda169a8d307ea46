//! Operators that PyTorch knows by other names as well.

use dispatch_runtime::prelude::*;

use crate::{
    abs, acos, acosh, asin, asinh, atan, atan2, atanh, bitwise_and, bitwise_and_, bitwise_and__scalar,
    bitwise_and_scalar, bitwise_left_shift, bitwise_left_shift_, bitwise_left_shift__tensor_scalar,
    bitwise_left_shift_tensor_scalar, bitwise_or, bitwise_or_, bitwise_or__scalar, bitwise_or_scalar,
    bitwise_right_shift, bitwise_right_shift_, bitwise_right_shift__tensor_scalar, bitwise_right_shift_tensor_scalar,
    bitwise_xor, bitwise_xor_, bitwise_xor__scalar, bitwise_xor_scalar, clamp, clamp_tensor, digamma, div, div_scalar,
    div_scalar_mode, div_tensor_mode, erf, erfc, erfinv, exp2, expm1, ge, ge_scalar, gt, gt_scalar, i0, igamma,
    igammac, le, le_scalar, lgamma, log_softmax_int, log1p, logit, logsumexp, lt, lt_scalar, mul, mul_scalar, mvlgamma,
    ne, ne_scalar, neg, polygamma, round_decimals, sigmoid, sinc, softmax_int, sub, sub_scalar, trunc, xlogy,
    xlogy_scalar_other, xlogy_scalar_self,
};

/// Another name of [`abs`](fn@crate::abs)
#[op_def("absolute(Tensor self) -> Tensor", inplace, out = "out", calls = abs(this))]
pub fn absolute(_: ...) -> Result<Tensor>;

/// Another name of [`neg`](fn@crate::neg)
#[op_def("negative(Tensor self) -> Tensor", inplace, out = "out", calls = neg(this))]
pub fn negative(_: ...) -> Result<Tensor>;

/// Another name of [`trunc`](fn@crate::trunc)
#[op_def("fix(Tensor self) -> Tensor", inplace, out = "out", calls = trunc(this))]
pub fn fix(_: ...) -> Result<Tensor>;

/// Another name of [`acos`](fn@crate::acos)
#[op_def("arccos(Tensor self) -> Tensor", inplace, out = "out", calls = acos(this))]
pub fn arccos(_: ...) -> Result<Tensor>;

/// Another name of [`acosh`](fn@crate::acosh)
#[op_def("arccosh(Tensor self) -> Tensor", inplace, out = "out", calls = acosh(this))]
pub fn arccosh(_: ...) -> Result<Tensor>;

/// Another name of [`asin`](fn@crate::asin)
#[op_def("arcsin(Tensor self) -> Tensor", inplace, out = "out", calls = asin(this))]
pub fn arcsin(_: ...) -> Result<Tensor>;

/// Another name of [`asinh`](fn@crate::asinh)
#[op_def("arcsinh(Tensor self) -> Tensor", inplace, out = "out", calls = asinh(this))]
pub fn arcsinh(_: ...) -> Result<Tensor>;

/// Another name of [`atan`](fn@crate::atan)
#[op_def("arctan(Tensor self) -> Tensor", inplace, out = "out", calls = atan(this))]
pub fn arctan(_: ...) -> Result<Tensor>;

/// Another name of [`atanh`](fn@crate::atanh)
#[op_def("arctanh(Tensor self) -> Tensor", inplace, out = "out", calls = atanh(this))]
pub fn arctanh(_: ...) -> Result<Tensor>;

/// Another name of [`atan2`](fn@crate::atan2)
#[op_def("arctan2(Tensor self, Tensor other) -> Tensor", inplace, out = "out", calls = atan2(this, other))]
pub fn arctan2(_: ...) -> Result<Tensor>;

/// Another name of [`sub`](fn@crate::sub)
#[op_def("subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", inplace, out = "out", calls = sub(this, other, alpha))]
pub fn subtract(_: ...) -> Result<Tensor>;

/// Another name of [`sub_scalar`](fn@crate::sub_scalar)
#[op_def("subtract.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", inplace, calls = sub_scalar(this, other, alpha))]
pub fn subtract_scalar(_: ...) -> Result<Tensor>;

/// Another name of [`mul`](fn@crate::mul)
#[op_def("multiply.Tensor(Tensor self, Tensor other) -> Tensor", inplace, out = "out", calls = mul(this, other))]
pub fn multiply(_: ...) -> Result<Tensor>;

/// Another name of [`mul_scalar`](fn@crate::mul_scalar)
#[op_def("multiply.Scalar(Tensor self, Scalar other) -> Tensor", inplace, calls = mul_scalar(this, other))]
pub fn multiply_scalar(_: ...) -> Result<Tensor>;

/// Another name of [`div`](fn@crate::div)
#[op_def("divide.Tensor(Tensor self, Tensor other) -> Tensor", inplace, out = "out", calls = div(this, other))]
pub fn divide(_: ...) -> Result<Tensor>;

/// Another name of [`div_scalar`](fn@crate::div_scalar)
#[op_def("divide.Scalar(Tensor self, Scalar other) -> Tensor", inplace, calls = div_scalar(this, other))]
pub fn divide_scalar(_: ...) -> Result<Tensor>;

/// Another name of [`div_tensor_mode`](fn@crate::div_tensor_mode)
#[op_def("divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor", inplace, out = "out_mode", calls = div_tensor_mode(this, other, rounding_mode))]
pub fn divide_tensor_mode(_: ...) -> Result<Tensor>;

/// Another name of [`div_scalar_mode`](fn@crate::div_scalar_mode)
#[op_def("divide.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor", inplace, calls = div_scalar_mode(this, other, rounding_mode))]
pub fn divide_scalar_mode(_: ...) -> Result<Tensor>;

/// Another name of [`div`](fn@crate::div)
#[op_def("true_divide.Tensor(Tensor self, Tensor other) -> Tensor", inplace, out = "out", calls = div(this, other))]
pub fn true_divide(_: ...) -> Result<Tensor>;

/// Another name of [`div_scalar`](fn@crate::div_scalar)
#[op_def("true_divide.Scalar(Tensor self, Scalar other) -> Tensor", inplace, calls = div_scalar(this, other))]
pub fn true_divide_scalar(_: ...) -> Result<Tensor>;

/// Another name of [`clamp`](fn@crate::clamp)
#[op_def("clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", inplace, out = "out", calls = clamp(this, min, max))]
pub fn clip(_: ...) -> Result<Tensor>;

/// Another name of [`clamp_tensor`](fn@crate::clamp_tensor)
#[op_def("clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor", inplace, out = "Tensor_out", calls = clamp_tensor(this, min, max))]
pub fn clip_tensor(_: ...) -> Result<Tensor>;

/// Another name of [`ne`](fn@crate::ne)
#[op_def("not_equal.Tensor(Tensor self, Tensor other) -> Tensor", inplace, out = "Tensor_out", calls = ne(this, other))]
pub fn not_equal(_: ...) -> Result<Tensor>;

/// Another name of [`ne_scalar`](fn@crate::ne_scalar)
#[op_def("not_equal.Scalar(Tensor self, Scalar other) -> Tensor", inplace, out = "Scalar_out", calls = ne_scalar(this, other))]
pub fn not_equal_scalar(_: ...) -> Result<Tensor>;

/// Another name of [`lt`](fn@crate::lt)
#[op_def("less.Tensor(Tensor self, Tensor other) -> Tensor", inplace, out = "Tensor_out", calls = lt(this, other))]
pub fn less(_: ...) -> Result<Tensor>;

/// Another name of [`lt_scalar`](fn@crate::lt_scalar)
#[op_def("less.Scalar(Tensor self, Scalar other) -> Tensor", inplace, out = "Scalar_out", calls = lt_scalar(this, other))]
pub fn less_scalar(_: ...) -> Result<Tensor>;

/// Another name of [`le`](fn@crate::le)
#[op_def("less_equal.Tensor(Tensor self, Tensor other) -> Tensor", inplace, out = "Tensor_out", calls = le(this, other))]
pub fn less_equal(_: ...) -> Result<Tensor>;

/// Another name of [`le_scalar`](fn@crate::le_scalar)
#[op_def("less_equal.Scalar(Tensor self, Scalar other) -> Tensor", inplace, out = "Scalar_out", calls = le_scalar(this, other))]
pub fn less_equal_scalar(_: ...) -> Result<Tensor>;

/// Another name of [`gt`](fn@crate::gt)
#[op_def("greater.Tensor(Tensor self, Tensor other) -> Tensor", inplace, out = "Tensor_out", calls = gt(this, other))]
pub fn greater(_: ...) -> Result<Tensor>;

/// Another name of [`gt_scalar`](fn@crate::gt_scalar)
#[op_def("greater.Scalar(Tensor self, Scalar other) -> Tensor", inplace, out = "Scalar_out", calls = gt_scalar(this, other))]
pub fn greater_scalar(_: ...) -> Result<Tensor>;

/// Another name of [`ge`](fn@crate::ge)
#[op_def("greater_equal.Tensor(Tensor self, Tensor other) -> Tensor", inplace, out = "Tensor_out", calls = ge(this, other))]
pub fn greater_equal(_: ...) -> Result<Tensor>;

/// Another name of [`ge_scalar`](fn@crate::ge_scalar)
#[op_def("greater_equal.Scalar(Tensor self, Scalar other) -> Tensor", inplace, out = "Scalar_out", calls = ge_scalar(this, other))]
pub fn greater_equal_scalar(_: ...) -> Result<Tensor>;

/// Another name of [`bitwise_and`](fn@crate::bitwise_and)
#[op_def("__and__.Tensor(Tensor self, Tensor other) -> Tensor", calls = bitwise_and(this, other))]
pub fn __and__(_: ...) -> Result<Tensor>;

/// Another name of [`bitwise_and_scalar`](fn@crate::bitwise_and_scalar)
#[op_def("__and__.Scalar(Tensor self, Scalar other) -> Tensor", calls = bitwise_and_scalar(this, other))]
pub fn __and___scalar(_: ...) -> Result<Tensor>;

/// Another name of [`bitwise_and_`](fn@crate::bitwise_and_)
#[op_def("__iand__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", calls = bitwise_and_(this, other))]
pub fn __iand__(_: ...) -> Result<()>;

/// Another name of [`bitwise_and__scalar`](fn@crate::bitwise_and__scalar)
#[op_def("__iand__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", calls = bitwise_and__scalar(this, other))]
pub fn __iand___scalar(_: ...) -> Result<()>;

/// Another name of [`bitwise_or`](fn@crate::bitwise_or)
#[op_def("__or__.Tensor(Tensor self, Tensor other) -> Tensor", calls = bitwise_or(this, other))]
pub fn __or__(_: ...) -> Result<Tensor>;

/// Another name of [`bitwise_or_scalar`](fn@crate::bitwise_or_scalar)
#[op_def("__or__.Scalar(Tensor self, Scalar other) -> Tensor", calls = bitwise_or_scalar(this, other))]
pub fn __or___scalar(_: ...) -> Result<Tensor>;

/// Another name of [`bitwise_or_`](fn@crate::bitwise_or_)
#[op_def("__ior__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", calls = bitwise_or_(this, other))]
pub fn __ior__(_: ...) -> Result<()>;

/// Another name of [`bitwise_or__scalar`](fn@crate::bitwise_or__scalar)
#[op_def("__ior__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", calls = bitwise_or__scalar(this, other))]
pub fn __ior___scalar(_: ...) -> Result<()>;

/// Another name of [`bitwise_xor`](fn@crate::bitwise_xor)
#[op_def("__xor__.Tensor(Tensor self, Tensor other) -> Tensor", calls = bitwise_xor(this, other))]
pub fn __xor__(_: ...) -> Result<Tensor>;

/// Another name of [`bitwise_xor_scalar`](fn@crate::bitwise_xor_scalar)
#[op_def("__xor__.Scalar(Tensor self, Scalar other) -> Tensor", calls = bitwise_xor_scalar(this, other))]
pub fn __xor___scalar(_: ...) -> Result<Tensor>;

/// Another name of [`bitwise_xor_`](fn@crate::bitwise_xor_)
#[op_def("__ixor__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", calls = bitwise_xor_(this, other))]
pub fn __ixor__(_: ...) -> Result<()>;

/// Another name of [`bitwise_xor__scalar`](fn@crate::bitwise_xor__scalar)
#[op_def("__ixor__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", calls = bitwise_xor__scalar(this, other))]
pub fn __ixor___scalar(_: ...) -> Result<()>;

/// Another name of [`bitwise_left_shift`](fn@crate::bitwise_left_shift)
#[op_def("__lshift__.Tensor(Tensor self, Tensor other) -> Tensor", out = "Tensor_out", calls = bitwise_left_shift(this, other))]
pub fn __lshift__(_: ...) -> Result<Tensor>;

/// Another name of [`bitwise_left_shift_tensor_scalar`](fn@crate::bitwise_left_shift_tensor_scalar)
#[op_def("__lshift__.Scalar(Tensor self, Scalar other) -> Tensor", out = "Scalar_out", calls = bitwise_left_shift_tensor_scalar(this, other))]
pub fn __lshift___scalar(_: ...) -> Result<Tensor>;

/// Another name of [`bitwise_left_shift_`](fn@crate::bitwise_left_shift_)
#[op_def("__ilshift__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", calls = bitwise_left_shift_(this, other))]
pub fn __ilshift__(_: ...) -> Result<()>;

/// Another name of [`bitwise_left_shift__tensor_scalar`](fn@crate::bitwise_left_shift__tensor_scalar)
#[op_def("__ilshift__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", calls = bitwise_left_shift__tensor_scalar(this, other))]
pub fn __ilshift___scalar(_: ...) -> Result<()>;

/// Another name of [`bitwise_right_shift`](fn@crate::bitwise_right_shift)
#[op_def("__rshift__.Tensor(Tensor self, Tensor other) -> Tensor", out = "Tensor_out", calls = bitwise_right_shift(this, other))]
pub fn __rshift__(_: ...) -> Result<Tensor>;

/// Another name of [`bitwise_right_shift_tensor_scalar`](fn@crate::bitwise_right_shift_tensor_scalar)
#[op_def("__rshift__.Scalar(Tensor self, Scalar other) -> Tensor", out = "Scalar_out", calls = bitwise_right_shift_tensor_scalar(this, other))]
pub fn __rshift___scalar(_: ...) -> Result<Tensor>;

/// Another name of [`bitwise_right_shift_`](fn@crate::bitwise_right_shift_)
#[op_def("__irshift__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", calls = bitwise_right_shift_(this, other))]
pub fn __irshift__(_: ...) -> Result<()>;

/// Another name of [`bitwise_right_shift__tensor_scalar`](fn@crate::bitwise_right_shift__tensor_scalar)
#[op_def("__irshift__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", calls = bitwise_right_shift__tensor_scalar(this, other))]
pub fn __irshift___scalar(_: ...) -> Result<()>;

/// Another name of [`digamma`](fn@crate::digamma)
#[op_def("special_digamma(Tensor self) -> Tensor", out = "out", calls = digamma(this))]
pub fn special_digamma(_: ...) -> Result<Tensor>;

/// Another name of [`digamma`](fn@crate::digamma)
#[op_def("special_psi(Tensor self) -> Tensor", out = "out", calls = digamma(this))]
pub fn special_psi(_: ...) -> Result<Tensor>;

/// Another name of [`erf`](fn@crate::erf)
#[op_def("special_erf(Tensor self) -> Tensor", out = "out", calls = erf(this))]
pub fn special_erf(_: ...) -> Result<Tensor>;

/// Another name of [`erfc`](fn@crate::erfc)
#[op_def("special_erfc(Tensor self) -> Tensor", out = "out", calls = erfc(this))]
pub fn special_erfc(_: ...) -> Result<Tensor>;

/// Another name of [`erfinv`](fn@crate::erfinv)
#[op_def("special_erfinv(Tensor self) -> Tensor", out = "out", calls = erfinv(this))]
pub fn special_erfinv(_: ...) -> Result<Tensor>;

/// Another name of [`exp2`](fn@crate::exp2)
#[op_def("special_exp2(Tensor self) -> Tensor", out = "out", calls = exp2(this))]
pub fn special_exp2(_: ...) -> Result<Tensor>;

/// Another name of [`sigmoid`](fn@crate::sigmoid)
#[op_def("special_expit(Tensor self) -> Tensor", out = "out", calls = sigmoid(this))]
pub fn special_expit(_: ...) -> Result<Tensor>;

/// Another name of [`expm1`](fn@crate::expm1)
#[op_def("special_expm1(Tensor self) -> Tensor", out = "out", calls = expm1(this))]
pub fn special_expm1(_: ...) -> Result<Tensor>;

/// Another name of [`igamma`](fn@crate::igamma)
#[op_def("special_gammainc(Tensor self, Tensor other) -> Tensor", out = "out", calls = igamma(this, other))]
pub fn special_gammainc(_: ...) -> Result<Tensor>;

/// Another name of [`igammac`](fn@crate::igammac)
#[op_def("special_gammaincc(Tensor self, Tensor other) -> Tensor", out = "out", calls = igammac(this, other))]
pub fn special_gammaincc(_: ...) -> Result<Tensor>;

/// Another name of [`lgamma`](fn@crate::lgamma)
#[op_def("special_gammaln(Tensor self) -> Tensor", out = "out", calls = lgamma(this))]
pub fn special_gammaln(_: ...) -> Result<Tensor>;

/// Another name of [`i0`](fn@crate::i0)
#[op_def("special_i0(Tensor self) -> Tensor", out = "out", calls = i0(this))]
pub fn special_i0(_: ...) -> Result<Tensor>;

/// Another name of [`log1p`](fn@crate::log1p)
#[op_def("special_log1p(Tensor self) -> Tensor", out = "out", calls = log1p(this))]
pub fn special_log1p(_: ...) -> Result<Tensor>;

/// Another name of [`logit`](fn@crate::logit)
#[op_def("special_logit(Tensor self, float? eps=None) -> Tensor", out = "out", calls = logit(this, eps))]
pub fn special_logit(_: ...) -> Result<Tensor>;

/// Another name of [`logsumexp`](fn@crate::logsumexp)
#[op_def("special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", out = "out", calls = logsumexp(this, dim, keepdim))]
pub fn special_logsumexp(_: ...) -> Result<Tensor>;

/// Another name of [`mvlgamma`](fn@crate::mvlgamma)
#[op_def("special_multigammaln(Tensor self, int p) -> Tensor", out = "out", calls = mvlgamma(this, p))]
pub fn special_multigammaln(_: ...) -> Result<Tensor>;

/// Another name of [`polygamma`](fn@crate::polygamma)
#[op_def("special_polygamma(int n, Tensor self) -> Tensor", out = "out", calls = polygamma(n, this))]
pub fn special_polygamma(_: ...) -> Result<Tensor>;

/// Another name of [`round_decimals`](fn@crate::round_decimals)
#[op_def("special_round(Tensor self, *, int decimals=0) -> Tensor", out = "out", calls = round_decimals(this, decimals))]
pub fn special_round(_: ...) -> Result<Tensor>;

/// Another name of [`sinc`](fn@crate::sinc)
#[op_def("special_sinc(Tensor self) -> Tensor", out = "out", calls = sinc(this))]
pub fn special_sinc(_: ...) -> Result<Tensor>;

/// Another name of [`xlogy`](fn@crate::xlogy)
#[op_def("special_xlogy(Tensor self, Tensor other) -> Tensor", out = "out", calls = xlogy(this, other))]
pub fn special_xlogy(_: ...) -> Result<Tensor>;

/// Another name of [`xlogy_scalar_other`](fn@crate::xlogy_scalar_other)
#[op_def("special_xlogy.other_scalar(Tensor self, Scalar other) -> Tensor", out = "other_scalar_out", calls = xlogy_scalar_other(this, other))]
pub fn special_xlogy_other_scalar(_: ...) -> Result<Tensor>;

/// Another name of [`xlogy_scalar_self`](fn@crate::xlogy_scalar_self)
#[op_def("special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor", out = "self_scalar_out", calls = xlogy_scalar_self(this, other))]
pub fn special_xlogy_self_scalar(_: ...) -> Result<Tensor>;

/// Another name of [`softmax_int`](fn@crate::softmax_int)
#[op_def("special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", calls = softmax_int(this, dim, dtype))]
pub fn special_softmax(_: ...) -> Result<Tensor>;

/// Another name of [`log_softmax_int`](fn@crate::log_softmax_int)
#[op_def("special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", calls = log_softmax_int(this, dim, dtype))]
pub fn special_log_softmax(_: ...) -> Result<Tensor>;
