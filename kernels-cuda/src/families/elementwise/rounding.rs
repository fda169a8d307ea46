//! Signs, magnitudes, and integer parts.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::{Promotion, bf16, f16};

use crate::engine::elementwise::{Bound, part};
use crate::prelude::*;

elementwise!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    neg [few] => |x| "return -x;";
    conj_physical [few] => |x| "return x;";
    abs [few] => |x| "return magnitude(x);";
    sign [few] => |x| "return direction(x);";
    sgn => |x| "return direction(x);";
    floor => |x| "return rounded_down(x);";
    ceil => |x| "return rounded_up(x);";
    trunc => |x| "return rounded_to_zero(x);";
    round => |x| "return rounded_to_nearest(x);";
    round_decimals => by { rounded(decimals) };
    nan_to_num => by { NAN_TO_NUM.with(&stands(this.dtype(), nan, posinf, neginf)) };
    frac => |x| "return x - trunc(x);";
});

loops!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    ROUND_LEFT round_left [F32 F64] |x; scale| "return rint(x / scale) * scale;";
    ROUND_RIGHT round_right [F32 F64] |x; scale| "return rint(x * scale) / scale;";
    NAN_TO_NUM nan_to_num [F32 F64 I64] |x; nan, above, below| "return is_nan(x) ? nan : is_infinite(x) ? (is_minus(x) ? below : above) : x;";
    MANTISSA frexp_mantissa [F32 F64] |x| "int exponent = 0; return is_nan(x) || is_infinite(x) ? x : frexp(x, &exponent);";
    EXPONENT frexp_exponent [F32 F64] |x| "int exponent = 0; if (!is_nan(x) && !is_infinite(x)) frexp(x, &exponent); return C(exponent);";
});

fn rounded(decimals: i64) -> Bound {
    let scale = 10_f64.powi(i32::try_from(decimals.unsigned_abs()).unwrap_or(i32::MAX));
    let loops = if decimals < 0 { &ROUND_LEFT } else { &ROUND_RIGHT };
    loops.with(&[scale.into()])
}

#[op_impl(aten::frexp, CUDA)]
fn frexp(_plan: &(), [mantissa, exponent]: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    write(mantissa, &part::<aten::frexp, _>(Promotion::Common, &MANTISSA, [this], &[])?)?;
    write(exponent, &part::<aten::frexp, _>(Promotion::Common, &EXPONENT, [this], &[])?)
}

/// What stands in for what is no number, for what is above all, and for what is below all.
fn stands(dtype: DType, nan: Option<f64>, above: Option<f64>, below: Option<f64>) -> [Scalar; 3] {
    let largest = match dtype {
        DType::F16 => f16::MAX.to_f64(),
        DType::BF16 => bf16::MAX.to_f64(),
        DType::F32 => f32::MAX.into(),
        _ => f64::MAX,
    };
    [nan.unwrap_or(0.0).into(), above.unwrap_or(largest).into(), below.unwrap_or(-largest).into()]
}
