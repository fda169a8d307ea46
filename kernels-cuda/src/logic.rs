//! Bits and truth.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::{DType, Result, Tensor, op_impl};

use crate::elementwise::{Loops, fresh, in_place, into};

elementwise!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    bitwise_and bitwise_and_ bitwise_and_tensor_out [I32 I64] (this, other) => |a, b| "return a & b;";
    bitwise_or bitwise_or_ bitwise_or_tensor_out [I32 I64] (this, other) => |a, b| "return a | b;";
    bitwise_xor bitwise_xor_ bitwise_xor_tensor_out [I32 I64] (this, other) => |a, b| "return a ^ b;";
    bitwise_left_shift bitwise_left_shift_ bitwise_left_shift_tensor_out [I64] (this, other) => |a, b| "return b >= 0 && b < 64 ? C(u64(a) << b) : C(0);";
    bitwise_right_shift bitwise_right_shift_ bitwise_right_shift_tensor_out [I64] (this, other) => |a, b| "return a >> (b >= 0 && b < 64 ? b : C(63));";
    logical_and logical_and_ logical_and_out [F32 F64 I32 I64] (this, other) => |a, b| "return a != C(0) && b != C(0);";
    logical_or logical_or_ logical_or_out [F32 F64 I32 I64] (this, other) => |a, b| "return a != C(0) || b != C(0);";
    logical_xor logical_xor_ logical_xor_out [F32 F64 I32 I64] (this, other) => |a, b| "return (a != C(0)) != (b != C(0));";
    logical_not logical_not_ logical_not_out [F32 F64 I32 I64] (this) => |x| "return x == C(0);";
    isnan - isnan_out [F32 F64 I64] (this) => |x| "return is_nan(x);";
    isinf - isinf_out [F32 F64 I64] (this) => |x| "return is_infinite(x);";
    isfinite - - [F32 F64 I64] (this) => |x| "return !is_nan(x) && !is_infinite(x);";
    isposinf - isposinf_out [F32 F64 I64] (this) => |x| "return is_infinite(x) && !is_minus(x);";
    isneginf - isneginf_out [F32 F64 I64] (this) => |x| "return is_infinite(x) && is_minus(x);";
    signbit - signbit_out [F32 F64 I64] (this) => |x| "return is_minus(x);";
});

loops!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    NOT bitwise_not [I32 I64] |x| "return ~x;";
    OPPOSITE opposite [I32 I64] |x| "return C(1) - x;";
});

/// Of a boolean, the other one: its bits are more than one.
fn inverting(this: &Tensor) -> &'static Loops {
    if this.dtype() == DType::Bool { &OPPOSITE } else { &NOT }
}

#[op_impl(aten::bitwise_not, CUDA)]
fn bitwise_not(this: &Tensor) -> Result<Tensor> {
    fresh::<aten::bitwise_not, _>(inverting(this), [this], &[])
}

#[op_impl(aten::bitwise_not_, CUDA)]
fn bitwise_not_(this: &mut Tensor) -> Result<()> {
    let loops = inverting(this);
    in_place::<aten::bitwise_not, aten::bitwise_not_, _>(loops, this, [None], &[])
}

#[op_impl(aten::bitwise_not_out, CUDA)]
fn bitwise_not_out(this: &Tensor, out: &mut Tensor) -> Result<()> {
    into::<aten::bitwise_not, _>(inverting(this), out, [this], &[])
}
