//! CUDA kernels of elementwise arithmetic with several operands.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::{DType, Scalar, Tensor, result_dtype};

use crate::engine::elementwise::BoundLoops;

elementwise!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    add [few] [keeps 0] [keeps 1] => |a, b| "return a + b * alpha;";
    _add_relu => by { add_relu_loops(result_dtype([this, other]), alpha) };
    sub [few] [keeps 0] [keeps 1] => |a, b| "return a - b * alpha;";
    rsub [few] [keeps 0] [keeps 1] => |a, b| "return b - a * alpha;";
    mul [few] [keeps 0] [keeps 1] => |a, b| "return a * b;";
    addcmul => |a, b, c| "return a + value * b * c;";
    addcdiv => |a, b, c| "return a + value * b / c;";
    lerp [keeps 2] => |a, b, weight| "return fabs(weight) < C(0.5) ? a + weight * (b - a) : b - (b - a) * (C(1) - weight);";
    hypot => |a, b| "return hypot(a, b);";
    atan2 => |y, x| "return atan2(y, x);";
    xlogy => |a, b| "return xlogy(a, b);";
    logaddexp => |a, b| "return logaddexp(a, b);";
    logaddexp2 => |a, b| "return logaddexp2(a, b);";
    copysign => |a, b| "return copysign(a, b);";
    nextafter => by { nextafter_loops(this, other) };
    gcd => |a, b| "for (; b; ) { C rest = trunc_remainder(a, b); a = b; b = rest; } return magnitude(a);";
    lcm => |a, b| "C x = a, y = b; for (; y; ) { C rest = trunc_remainder(x, y); x = y; y = rest; } return x == 0 ? x : magnitude(C(a / x * b));";
});

loops!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    ADD_RELU_LOOPS _add_relu [F32 F64 I64 I32] |a, b; alpha| "return maximum(a + b * alpha, C(0));";
    ADD_RELU_I16_LOOPS _add_relu_i16 [I32] |a, b; alpha| "return maximum(C(i16(a + b * alpha)), C(0));";
    ADD_RELU_I8_LOOPS _add_relu_i8 [I32] |a, b; alpha| "return maximum(C(i8(a + b * alpha)), C(0));";
    NEXTAFTER_LOOPS nextafter [F32 F64] |a, b; dtype| "return next_after_in_dtype(a, b, dtype);";
});

/// Selects the loops of `_add_relu`: a sum of narrow integers wraps in its own dtype before the comparison with zero.
fn add_relu_loops(dtype: DType, alpha: Scalar) -> BoundLoops {
    let loops = match dtype {
        DType::I8 => &ADD_RELU_I8_LOOPS,
        DType::I16 => &ADD_RELU_I16_LOOPS,
        _ => &ADD_RELU_LOOPS,
    };
    loops.bind_scalars(&[alpha])
}

/// Passes the dtype to the loops of `nextafter`: the next number is that of the dtype, not of the type that is computed in.
fn nextafter_loops(this: &Tensor, other: &Tensor) -> BoundLoops {
    NEXTAFTER_LOOPS.bind_scalars(&[i64::from(result_dtype([this, other]) as u8).into()])
}
