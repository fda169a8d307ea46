//! Division, remainders and powers.
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::Rounding;
use dispatch_runtime::result_dtype;

use crate::engine::elementwise::{Loops, in_place, into};
use crate::engine::number::{is_single, narrowed};
use crate::prelude::*;

elementwise!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    div [keeps 1] => |a, b| "return a / b;";
    floor_divide [few] [divisor 1] [keeps 1] => |a, b| "return floor_divided(a, b);";
    remainder [few] [divisor 1] => |a, b| "return modulo(a, b);";
    fmod [few] [divisor 1] => |a, b| "return left_over(a, b);";
    pow_tensor_tensor [few] => |a, b| "return to_the(a, b);";
});

loops!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    TRUE true_divide [F32 F64] [keeps 1] |a, b| "return a / b;";
    FLOOR floor_divide_rounded [F32 F64 I32 I64] [divisor 1] [keeps 1] |a, b| "return floor_divided(a, b);";
    TRUNC trunc_divide [F32 F64 I32 I64] [divisor 1] [keeps 1] |a, b| "return trunc_divided(a, b);";
    TRUNC_F16 trunc_divide_f16 [F32] |a, b| "return trunc(float(f16(float(a / b))));";
    TRUNC_BF16 trunc_divide_bf16 [F32] |a, b| "return trunc(float(bf16(float(a / b))));";
    POWER power [F32 F64 I32 I64] |a, b| "return to_the(a, b);";
});

#[op_impl(aten::floor_divide_, CUDA)]
fn floor_divide_(this: &mut Tensor, other: &Tensor) -> Result<()> {
    in_place::<aten::floor_divide, aten::floor_divide_, _>(this, [None, Some(other)], &FLOOR.with(&[]))
}

#[op_impl(aten::pow_, CUDA)]
fn pow_(this: &mut Tensor, exponent: &Tensor) -> Result<()> {
    in_place::<aten::pow_tensor_tensor, aten::pow_, _>(this, [None, Some(exponent)], &POWER.with(&[]))
}

/// The loop of a rounded division, whose promotion is that of `floor_divide` in either case.
fn rounded(this: &Tensor, other: &Tensor, rounding: Rounding) -> &'static Loops {
    match rounding {
        Rounding::Floor => &FLOOR,
        Rounding::Trunc if other.geometry().count() == 1 => &TRUNC,
        // Of several in narrow dtypes, it is the quotient in that dtype that is rounded to an integer.
        Rounding::Trunc => match result_dtype([this, other]) {
            DType::F16 => &TRUNC_F16,
            DType::BF16 => &TRUNC_BF16,
            _ => &TRUNC,
        },
    }
}

#[op_impl(aten::div_tensor_mode, CUDA, in_place, strided, converts)]
fn div_mode(plan: &Option<Rounding>, out: &mut Tensor, this: &Tensor, other: &Tensor) -> Result<()> {
    match *plan {
        None => into::<aten::div, _>(("out", out), [this, other], &TRUE.with(&[])),
        Some(rounding) => {
            into::<aten::floor_divide, _>(("out", out), [this, other], &rounded(this, other, rounding).with(&[]))
        }
    }
}

kernel! {
    // SAFETY: the divisor is packed and has `count` elements, which are read and nothing is written to but the fault.
    static NO_ZERO = unsafe { Kernel::new("no_zero", r#"
#include "opdispatch.cuh"
template <class T> __global__ void __launch_bounds__(256) no_zero(const T *elements, i64 count, Fault *fault, u32 site) {
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at < count && elements[at] == T(0)) report(fault, site, DIVISION_BY_ZERO, at, count);
}
"#, |instances| instances.each("no_zero", &WHOLE)) };
}

const WHOLE: [DType; 6] = [DType::I64, DType::I32, DType::I16, DType::I8, DType::U8, DType::Bool];

/// Finds out integers that are to be divided by zero in `computed`: a number at once, an element when the device is next waited for.
pub(crate) fn check(divisor: &Tensor, computed: DType) -> Result<()> {
    if is_single(divisor) {
        return match narrowed(divisor.to_scalar()?, computed) {
            Scalar::Int(0) | Scalar::Bool(false) => Err(BadArgument::new("other", Problem::DivisionByZero).into()),
            _ => Ok(()),
        };
    }
    // What does not fit wraps, and may be zero then.
    let narrows = divisor.dtype().promote(computed) != computed;
    let divisor = packed(divisor, if narrows { computed } else { divisor.dtype() })?;
    let (launch, count) = (Launch::on(&divisor)?, divisor.geometry().count());
    let arguments = (&divisor, count, launch.faults(), Site::of("aten::div", "other"));
    launch.cover(&NO_ZERO, "no_zero", &[divisor.dtype()], count, arguments)
}
