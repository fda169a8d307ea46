//! CUDA kernels of bitwise and logical operators, and of tests for NaN, infinity and sign.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::{DType, Tensor};

use crate::engine::elementwise::BoundLoops;

elementwise!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    bitwise_and [few] => |a, b| "return a & b;";
    bitwise_or [few] => |a, b| "return a | b;";
    bitwise_xor [few] => |a, b| "return a ^ b;";
    bitwise_not => by { bitwise_not_loops(this) };
    bitwise_left_shift => |a, b| "return b >= 0 && b < 64 ? C(u64(a) << b) : C(0);";
    bitwise_right_shift => |a, b| "return a >> (b >= 0 && b < 64 ? b : C(63));";
    logical_and [few] => |a, b| "return a != C(0) && b != C(0);";
    logical_or [few] => |a, b| "return a != C(0) || b != C(0);";
    logical_xor [few] => |a, b| "return (a != C(0)) != (b != C(0));";
    logical_not [few] => |x| "return x == C(0);";
    isnan => |x| "return is_nan(x);";
    isinf => |x| "return is_infinite(x);";
    isfinite => |x| "return !is_nan(x) && !is_infinite(x);";
    isposinf => |x| "return is_infinite(x) && !sign_bit(x);";
    isneginf => |x| "return is_infinite(x) && sign_bit(x);";
    signbit => |x| "return sign_bit(x);";
});

loops!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    BITWISE_NOT_LOOPS bitwise_not [I32 I64] |x| "return ~x;";
    BOOL_NOT_LOOPS opposite [I32 I64] |x| "return C(1) - x;";
});

/// Selects the loops of `bitwise_not`. A boolean is negated as a value, as inverting all bits would not give a boolean.
fn bitwise_not_loops(this: &Tensor) -> BoundLoops {
    let loops = if this.dtype() == DType::Bool { &BOOL_NOT_LOOPS } else { &BITWISE_NOT_LOOPS };
    loops.bind_scalars(&[])
}
