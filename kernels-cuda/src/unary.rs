//! Elementwise functions of one operand that give numbers with a fraction.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::{Result, Tensor, op_impl};

use crate::elementwise::{fresh, in_place, into};

elementwise!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    sqrt sqrt_ sqrt_out [F32 F64] (this) => |x| "return sqrt(x);";
    rsqrt rsqrt_ rsqrt_out [F32 F64] (this) => |x| "return rsqrt(x);";
    reciprocal reciprocal_ reciprocal_out [F32 F64] (this) => |x| "return C(1) / x;";
    exp exp_ exp_out [F32 F64] (this) => |x| "return exp(x);";
    exp2 exp2_ exp2_out [F32 F64] (this) => |x| "return exp2(x);";
    expm1 expm1_ expm1_out [F32 F64] (this) => |x| "return expm1(x);";
    log log_ log_out [F32 F64] (this) => |x| "return log(x);";
    log2 log2_ log2_out [F32 F64] (this) => |x| "return log2(x);";
    log10 log10_ log10_out [F32 F64] (this) => |x| "return log10(x);";
    log1p log1p_ log1p_out [F32 F64] (this) => |x| "return log1p(x);";
    sin sin_ sin_out [F32 F64] (this) => |x| "return sin(x);";
    cos cos_ cos_out [F32 F64] (this) => |x| "return cos(x);";
    tan tan_ tan_out [F32 F64] (this) => |x| "return tan(x);";
    asin asin_ asin_out [F32 F64] (this) => |x| "return asin(x);";
    acos acos_ acos_out [F32 F64] (this) => |x| "return acos(x);";
    atan atan_ atan_out [F32 F64] (this) => |x| "return atan(x);";
    sinh sinh_ sinh_out [F32 F64] (this) => |x| "return sinh(x);";
    cosh cosh_ cosh_out [F32 F64] (this) => |x| "return cosh(x);";
    tanh tanh_ tanh_out [F32 F64] (this) => |x| "return tanh(x);";
    asinh asinh_ asinh_out [F32 F64] (this) => |x| "return asinh(x);";
    acosh acosh_ acosh_out [F32 F64] (this) => |x| "return acosh(x);";
    atanh atanh_ atanh_out [F32 F64] (this) => |x| "return atanh(x);";
    sigmoid sigmoid_ sigmoid_out [F32 F64] (this) => |x| "return sigmoid(x);";
    erf erf_ erf_out [F32 F64] (this) => |x| "return erf(x);";
    erfc erfc_ erfc_out [F32 F64] (this) => |x| "return erfc(x);";
    erfinv erfinv_ erfinv_out [F32 F64] (this) => |x| "return erfinv(x);";
    lgamma lgamma_ lgamma_out [F32 F64] (this) => |x| "return is_infinite(x) ? Bounds<C>::most() : lgamma(x);";
    digamma digamma_ digamma_out [F32 F64] (this) => |x| "return C(digamma_of(double(x)));";
    sinc sinc_ sinc_out [F32 F64] (this) => |x| "C turn = x * C(3.141592653589793); return x == C(0) ? C(1) : sin(turn) / turn;";
    deg2rad deg2rad_ deg2rad_out [F32 F64] (this) => |x| "return x * C(0.017453292519943295);";
    rad2deg rad2deg_ rad2deg_out [F32 F64] (this) => |x| "return x * C(57.29577951308232);";
});

loops!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    LOGIT logit [F32 F64] |x; low, high| "C y = x < low ? low : smaller(x, high); return log(y / (C(1) - y));";
    POLYGAMMA polygamma [F32 F64] |x; order| "return C(polygamma_of(double(order), double(x)));";
});

/// What is beyond an end stays there, so that it becomes NaN.
fn ends(eps: Option<f64>) -> [dispatch_runtime::Scalar; 2] {
    let (low, high) = eps.map_or((f64::NEG_INFINITY, f64::INFINITY), |eps| (eps, 1.0 - eps));
    [low.into(), high.into()]
}

#[op_impl(aten::logit, CUDA)]
fn logit(this: &Tensor, eps: Option<f64>) -> Result<Tensor> {
    fresh::<aten::logit, _>(&LOGIT, [this], &ends(eps))
}

#[op_impl(aten::logit_, CUDA)]
fn logit_(this: &mut Tensor, eps: Option<f64>) -> Result<()> {
    in_place::<aten::logit, aten::logit_, _>(&LOGIT, this, [None], &ends(eps))
}

#[op_impl(aten::logit_out, CUDA)]
fn logit_out(this: &Tensor, eps: Option<f64>, out: &mut Tensor) -> Result<()> {
    into::<aten::logit, _>(&LOGIT, out, [this], &ends(eps))
}

#[op_impl(aten::polygamma, CUDA)]
fn polygamma(n: i64, this: &Tensor) -> Result<Tensor> {
    fresh::<aten::polygamma, _>(&POLYGAMMA, [this], &[aten::polygamma_order(n)?.into()])
}

#[op_impl(aten::polygamma_out, CUDA)]
fn polygamma_out(n: i64, this: &Tensor, out: &mut Tensor) -> Result<()> {
    into::<aten::polygamma, _>(&POLYGAMMA, out, [this], &[aten::polygamma_order(n)?.into()])
}
