//! Elementwise functions of one operand that give numbers with a fraction.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::engine::elementwise::Bound;

elementwise!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    sqrt => |x| "return sqrt(x);";
    rsqrt => |x| "return rsqrt(x);";
    reciprocal => |x| "return C(1) / x;";
    exp => |x| "return exp(x);";
    exp2 => |x| "return exp2(x);";
    expm1 => |x| "return expm1(x);";
    log => |x| "return log(x);";
    log2 => |x| "return log2(x);";
    log10 => |x| "return log10(x);";
    log1p => |x| "return log1p(x);";
    sin => |x| "return sin(x);";
    cos => |x| "return cos(x);";
    tan => |x| "return tan(x);";
    asin => |x| "return asin(x);";
    acos => |x| "return acos(x);";
    atan => |x| "return atan(x);";
    sinh => |x| "return sinh(x);";
    cosh => |x| "return cosh(x);";
    tanh => |x| "return tanh(x);";
    asinh => |x| "return asinh(x);";
    acosh => |x| "return acosh(x);";
    atanh => |x| "return atanh(x);";
    sigmoid => |x| "return sigmoid(x);";
    erf => |x| "return erf(x);";
    erfc => |x| "return erfc(x);";
    erfinv => |x| "return erfinv(x);";
    lgamma => |x| "return is_infinite(x) ? Bounds<C>::most() : lgamma(x);";
    digamma => |x| "return C(digamma_of(double(x)));";
    sinc => |x| "C turn = x * C(3.141592653589793); return x == C(0) ? C(1) : sin(turn) / turn;";
    deg2rad => |x| "return x * C(0.017453292519943295);";
    rad2deg => |x| "return x * C(57.29577951308232);";
    logit => by { ends(eps) };
    polygamma => by { POLYGAMMA.with(&[n.into()]) };
});

loops!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    LOGIT logit [F32 F64] |x; low, high| "C y = x < low ? low : smaller(x, high); return log(y / (C(1) - y));";
    POLYGAMMA polygamma [F32 F64] |x; order| "return C(polygamma_of(double(order), double(x)));";
});

/// What is beyond an end stays there, so that it becomes NaN.
fn ends(eps: Option<f64>) -> Bound {
    let (low, high) = eps.map_or((f64::NEG_INFINITY, f64::INFINITY), |eps| (eps, 1.0 - eps));
    LOGIT.with(&[low.into(), high.into()])
}
