//! CUDA kernels of elementwise functions with one operand: signs, rounding, exponentials, trigonometry and others.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::{Promotion, bf16, f16};

use crate::engine::elementwise::{BoundLoops, compute_with_promotion};
use crate::prelude::*;

elementwise!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    neg [few] => |x| "return -x;";
    conj_physical [few] => |x| "return x;";
    abs [few] => |x| "return magnitude(x);";
    sign [few] => |x| "return sign_of(x);";
    sgn => |x| "return sign_of(x);";
    floor => |x| "return rounded_down(x);";
    ceil => |x| "return rounded_up(x);";
    trunc => |x| "return rounded_to_zero(x);";
    round => |x| "return rounded_to_nearest(x);";
    round_decimals => by { round_decimals_loops(decimals) };
    nan_to_num => by { NAN_TO_NUM_LOOPS.bind_scalars(&nan_to_num_replacements(this.dtype(), nan, posinf, neginf)) };
    frac => |x| "return x - trunc(x);";
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
    lgamma => |x| "return is_infinite(x) ? Limits<C>::max_value() : lgamma(x);";
    digamma => |x| "return C(digamma_of(double(x)));";
    sinc => |x| "C turn = x * C(3.141592653589793); return x == C(0) ? C(1) : sin(turn) / turn;";
    deg2rad => |x| "return x * C(0.017453292519943295);";
    rad2deg => |x| "return x * C(57.29577951308232);";
    logit => by { logit_loops(eps) };
    polygamma => by { POLYGAMMA_LOOPS.bind_scalars(&[n.into()]) };
});

loops!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    ROUND_LEFT_OF_POINT_LOOPS round_left [F32 F64] |x; scale| "return rint(x / scale) * scale;";
    ROUND_RIGHT_OF_POINT_LOOPS round_right [F32 F64] |x; scale| "return rint(x * scale) / scale;";
    NAN_TO_NUM_LOOPS nan_to_num [F32 F64 I64] |x; nan, above, below| "return is_nan(x) ? nan : is_infinite(x) ? (sign_bit(x) ? below : above) : x;";
    FREXP_MANTISSA_LOOPS frexp_mantissa [F32 F64] |x| "int exponent = 0; return is_nan(x) || is_infinite(x) ? x : frexp(x, &exponent);";
    FREXP_EXPONENT_LOOPS frexp_exponent [F32 F64] |x| "int exponent = 0; if (!is_nan(x) && !is_infinite(x)) frexp(x, &exponent); return C(exponent);";
    LOGIT_LOOPS logit [F32 F64] |x; low, high| "C y = x < low ? low : minimum(x, high); return log(y / (C(1) - y));";
    POLYGAMMA_LOOPS polygamma [F32 F64] |x; order| "return C(polygamma_of(double(order), double(x)));";
});

/// Returns the loops of `logit`, clamped to `eps`. Without `eps` nothing is clamped, so an element outside of 0 to 1 becomes NaN.
fn logit_loops(eps: Option<f64>) -> BoundLoops {
    let (low, high) = eps.map_or((f64::NEG_INFINITY, f64::INFINITY), |eps| (eps, 1.0 - eps));
    LOGIT_LOOPS.bind_scalars(&[low.into(), high.into()])
}

fn round_decimals_loops(decimals: i64) -> BoundLoops {
    let scale = 10_f64.powi(i32::try_from(decimals.unsigned_abs()).unwrap_or(i32::MAX));
    let loops = if decimals < 0 { &ROUND_LEFT_OF_POINT_LOOPS } else { &ROUND_RIGHT_OF_POINT_LOOPS };
    loops.bind_scalars(&[scale.into()])
}

#[op_impl(aten::frexp, CUDA)]
fn frexp(_plan: &(), [mantissa, exponent]: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    copy_into(
        mantissa,
        &compute_with_promotion::<aten::frexp, _>(Promotion::Common, &FREXP_MANTISSA_LOOPS, [this], &[])?,
    )?;
    copy_into(
        exponent,
        &compute_with_promotion::<aten::frexp, _>(Promotion::Common, &FREXP_EXPONENT_LOOPS, [this], &[])?,
    )
}

/// Returns the replacements of `nan_to_num` for NaN, infinity and minus infinity.
fn nan_to_num_replacements(dtype: DType, nan: Option<f64>, above: Option<f64>, below: Option<f64>) -> [Scalar; 3] {
    let largest = match dtype {
        DType::F16 => f16::MAX.to_f64(),
        DType::BF16 => bf16::MAX.to_f64(),
        DType::F32 => f32::MAX.into(),
        _ => f64::MAX,
    };
    [nan.unwrap_or(0.0).into(), above.unwrap_or(largest).into(), below.unwrap_or(-largest).into()]
}
