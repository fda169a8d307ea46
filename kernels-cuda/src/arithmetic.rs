//! Elementwise arithmetic of several operands.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::{Result, Scalar, Tensor, op_impl, result_dtype};

use crate::elementwise::fresh;

elementwise!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    add add_ add_out [F32 F64 I32 I64] (this, other; alpha: Scalar) if aten::check_alpha [keeps 0] [keeps 1] => |a, b| "return a + b * alpha;";
    sub sub_ sub_out [F32 F64 I32 I64] (this, other; alpha: Scalar) if aten::check_subtraction [keeps 0] [keeps 1] => |a, b| "return a - b * alpha;";
    rsub - rsub_tensor_out [F32 F64 I32 I64] (this, other; alpha: Scalar) if aten::check_subtraction [keeps 0] [keeps 1] => |a, b| "return b - a * alpha;";
    mul mul_ mul_out [F32 F64 I32 I64] (this, other) [keeps 0] [keeps 1] => |a, b| "return a * b;";
    addcmul addcmul_ addcmul_out [F32 F64 I64] (this, tensor1, tensor2; value: Scalar) if aten::check_addcmul => |a, b, c| "return a + value * b * c;";
    addcdiv addcdiv_ addcdiv_out [F32 F64] (this, tensor1, tensor2; value: Scalar) if aten::check_addcmul => |a, b, c| "return a + value * b / c;";
    lerp lerp_ lerp_tensor_out [F32 F64] (this, end, weight) if aten::check_lerp [keeps 2] => |a, b, weight| "return fabs(weight) < C(0.5) ? a + weight * (b - a) : b - (b - a) * (C(1) - weight);";
    hypot hypot_ hypot_out [F32 F64] (this, other) => |a, b| "return hypot(a, b);";
    atan2 atan2_ atan2_out [F32 F64] (this, other) => |y, x| "return atan2(y, x);";
    xlogy xlogy_ xlogy_outtensor [F32 F64] (this, other) => |a, b| "return times_log(a, b);";
    logaddexp - logaddexp_out [F32 F64] (this, other) => |a, b| "return log_sum(a, b);";
    logaddexp2 - logaddexp2_out [F32 F64] (this, other) => |a, b| "return log2_sum(a, b);";
    copysign copysign_ copysign_out [F32 F64] (this, other) => |a, b| "return copysign(a, b);";
    gcd gcd_ gcd_out [I64] (this, other) => |a, b| "for (; b; ) { C rest = left_over(a, b); a = b; b = rest; } return magnitude(a);";
    lcm lcm_ lcm_out [I64] (this, other) => |a, b| "C x = a, y = b; for (; y; ) { C rest = left_over(x, y); x = y; y = rest; } return x == 0 ? x : magnitude(C(a / x * b));";
});

loops!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    NEXTAFTER nextafter [F32 F64] |a, b; dtype| "return towards(a, b, dtype);";
});

/// The next number is that of the dtype, not of the type that it is computed in.
#[op_impl(aten::nextafter, CUDA)]
fn nextafter(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let dtype = result_dtype([this, other]);
    fresh::<aten::nextafter, _>(&NEXTAFTER, [this, other], &[i64::from(dtype as u8).into()])
}
