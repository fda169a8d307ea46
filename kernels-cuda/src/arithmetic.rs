//! Elementwise arithmetic of several operands.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::{Tensor, result_dtype};

use crate::elementwise::Bound;

elementwise!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    add [few] [keeps 0] [keeps 1] => |a, b| "return a + b * alpha;";
    sub [few] [keeps 0] [keeps 1] => |a, b| "return a - b * alpha;";
    rsub [few] [keeps 0] [keeps 1] => |a, b| "return b - a * alpha;";
    mul [few] [keeps 0] [keeps 1] => |a, b| "return a * b;";
    addcmul => |a, b, c| "return a + value * b * c;";
    addcdiv => |a, b, c| "return a + value * b / c;";
    lerp [keeps 2] => |a, b, weight| "return fabs(weight) < C(0.5) ? a + weight * (b - a) : b - (b - a) * (C(1) - weight);";
    hypot => |a, b| "return hypot(a, b);";
    atan2 => |y, x| "return atan2(y, x);";
    xlogy => |a, b| "return times_log(a, b);";
    logaddexp => |a, b| "return log_sum(a, b);";
    logaddexp2 => |a, b| "return log2_sum(a, b);";
    copysign => |a, b| "return copysign(a, b);";
    nextafter => by { Ok(steps(this, other)) };
    gcd => |a, b| "for (; b; ) { C rest = left_over(a, b); a = b; b = rest; } return magnitude(a);";
    lcm => |a, b| "C x = a, y = b; for (; y; ) { C rest = left_over(x, y); x = y; y = rest; } return x == 0 ? x : magnitude(C(a / x * b));";
});

loops!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    NEXTAFTER nextafter [F32 F64] |a, b; dtype| "return towards(a, b, dtype);";
});

/// The next number is that of the dtype, not of the type that it is computed in.
fn steps(this: &Tensor, other: &Tensor) -> Bound {
    NEXTAFTER.with(&[i64::from(result_dtype([this, other]) as u8).into()])
}
