//! Signs, magnitudes, and integer parts.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::{BadArgument, DType, Promotion, Result, Scalar, Tensor, bf16, f16, op_impl};

use crate::elementwise::{fresh, in_place, into, part};

elementwise!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    neg neg_ neg_out [F32 F64 I32 I64] (this) if aten::check_negation => |x| "return -x;";
    conj_physical conj_physical_ conj_physical_out [F32 F64 I32 I64] (this) => |x| "return x;";
    abs abs_ abs_out [F32 F64 I32 I64] (this) => |x| "return magnitude(x);";
    sign sign_ sign_out [F32 F64 I32 I64] (this) => |x| "return direction(x);";
    sgn sgn_ sgn_out [F32 F64 I64] (this) => |x| "return direction(x);";
    floor floor_ floor_out [F32 F64 I64] (this) => |x| "return rounded_down(x);";
    ceil ceil_ ceil_out [F32 F64 I64] (this) => |x| "return rounded_up(x);";
    trunc trunc_ trunc_out [F32 F64 I64] (this) => |x| "return rounded_to_zero(x);";
    round round_ round_out [F32 F64 I64] (this) => |x| "return rounded_to_nearest(x);";
    frac frac_ frac_out [F32 F64] (this) => |x| "return x - trunc(x);";
});

loops!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    ROUND_LEFT round_left [F32 F64] |x; scale| "return rint(x / scale) * scale;";
    ROUND_RIGHT round_right [F32 F64] |x; scale| "return rint(x * scale) / scale;";
    NAN_TO_NUM nan_to_num [F32 F64 I64] |x; nan, above, below| "return is_nan(x) ? nan : is_infinite(x) ? (is_minus(x) ? below : above) : x;";
    MANTISSA frexp_mantissa [F32 F64] |x| "int exponent = 0; return is_nan(x) || is_infinite(x) ? x : frexp(x, &exponent);";
    EXPONENT frexp_exponent [F32 F64] |x| "int exponent = 0; if (!is_nan(x) && !is_infinite(x)) frexp(x, &exponent); return C(exponent);";
});

#[op_impl(aten::round_decimals, CUDA)]
fn round_decimals(this: &Tensor, decimals: i64) -> Result<Tensor> {
    let scale = 10_f64.powi(i32::try_from(decimals.unsigned_abs()).unwrap_or(i32::MAX));
    let loops = if decimals < 0 { &ROUND_LEFT } else { &ROUND_RIGHT };
    fresh::<aten::round_decimals, _>(loops, [this], &[scale.into()])
}

#[op_impl(aten::frexp, CUDA)]
fn frexp(this: &Tensor) -> Result<(Tensor, Tensor)> {
    if !this.dtype().is_floating() {
        return Err(BadArgument::dtype("self", this.dtype(), "floating").into());
    }
    let mantissa = part::<aten::frexp, _>(Promotion::Common, &MANTISSA, [this], &[])?;
    let exponent = part::<aten::frexp, _>(Promotion::Common, &EXPONENT, [this], &[])?;
    Ok((mantissa, aten::to_dtype(&exponent, DType::I32, false, false, None)?))
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

#[op_impl(aten::nan_to_num, CUDA)]
fn nan_to_num(this: &Tensor, nan: Option<f64>, posinf: Option<f64>, neginf: Option<f64>) -> Result<Tensor> {
    fresh::<aten::nan_to_num, _>(&NAN_TO_NUM, [this], &stands(this.dtype(), nan, posinf, neginf))
}

#[op_impl(aten::nan_to_num_, CUDA)]
fn nan_to_num_(this: &mut Tensor, nan: Option<f64>, posinf: Option<f64>, neginf: Option<f64>) -> Result<()> {
    let stands = stands(this.dtype(), nan, posinf, neginf);
    in_place::<aten::nan_to_num, aten::nan_to_num_, _>(&NAN_TO_NUM, this, [None], &stands)
}

#[op_impl(aten::nan_to_num_out, CUDA)]
fn nan_to_num_out(
    this: &Tensor,
    nan: Option<f64>,
    posinf: Option<f64>,
    neginf: Option<f64>,
    out: &mut Tensor,
) -> Result<()> {
    into::<aten::nan_to_num, _>(&NAN_TO_NUM, out, [this], &stands(this.dtype(), nan, posinf, neginf))
}
