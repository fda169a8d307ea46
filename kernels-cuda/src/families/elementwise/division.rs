//! CUDA kernels of division and remainders.
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::Rounding;
use dispatch_runtime::result_dtype;

use crate::engine::elementwise::{Loops, compute_in_place, compute_into};
use crate::prelude::*;

elementwise!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    div [keeps 1] => |a, b| "return a / b;";
    floor_divide [few] [divisor 1] [keeps 1] => |a, b| "return floor_divide(a, b);";
    remainder [few] [divisor 1] => |a, b| "return floor_remainder(a, b);";
    fmod [few] [divisor 1] => |a, b| "return trunc_remainder(a, b);";
});

loops!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    TRUE_DIVISION_LOOPS true_divide [F32 F64] [keeps 1] |a, b| "return a / b;";
    FLOOR_DIVISION_LOOPS floor_divide_rounded [F32 F64 I32 I64] [divisor 1] [keeps 1] |a, b| "return floor_divide(a, b);";
    TRUNC_DIVISION_LOOPS trunc_divide [F32 F64 I32 I64] [divisor 1] [keeps 1] |a, b| "return trunc_divide(a, b);";
    TRUNC_DIVISION_F16_LOOPS trunc_divide_f16 [F32] |a, b| "return trunc(float(f16(float(a / b))));";
    TRUNC_DIVISION_BF16_LOOPS trunc_divide_bf16 [F32] |a, b| "return trunc(float(bf16(float(a / b))));";
});

#[op_impl(aten::floor_divide_, CUDA)]
fn floor_divide_(this: &mut Tensor, other: &Tensor) -> Result<()> {
    compute_in_place::<aten::floor_divide, aten::floor_divide_, _>(
        this,
        [None, Some(other)],
        &FLOOR_DIVISION_LOOPS.bind_scalars(&[]),
    )
}

/// Selects the loops of a rounded division. They promote as `floor_divide` does, for both roundings.
fn rounded_division_loops(this: &Tensor, other: &Tensor, rounding: Rounding) -> &'static Loops {
    match rounding {
        Rounding::Floor => &FLOOR_DIVISION_LOOPS,
        Rounding::Trunc if other.geometry().count() == 1 => &TRUNC_DIVISION_LOOPS,
        // A divisor of several elements in half precision: the quotient is rounded to that dtype before it is truncated.
        Rounding::Trunc => match result_dtype([this, other]) {
            DType::F16 => &TRUNC_DIVISION_F16_LOOPS,
            DType::BF16 => &TRUNC_DIVISION_BF16_LOOPS,
            _ => &TRUNC_DIVISION_LOOPS,
        },
    }
}

#[op_impl(aten::div_tensor_mode, CUDA, in_place, strided, converts)]
fn div_tensor_mode(plan: &Option<Rounding>, out: &mut Tensor, this: &Tensor, other: &Tensor) -> Result<()> {
    match *plan {
        None => compute_into::<aten::div, _>(("out", out), [this, other], &TRUE_DIVISION_LOOPS.bind_scalars(&[])),
        Some(rounding) => compute_into::<aten::floor_divide, _>(
            ("out", out),
            [this, other],
            &rounded_division_loops(this, other, rounding).bind_scalars(&[]),
        ),
    }
}
