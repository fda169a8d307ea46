//! Kernels of division and remainders.

use aten::Rounding;
use dispatch_runtime::{
    BadArgument, Bool, Complex32, Complex64, DType, Element, Problem, Result, Tensor, bf16, f16, op_impl, result_dtype,
};

use engine::compute::{Divide, Ordered};
use engine::data_movement::to_contiguous;
use engine::elementwise::{Loops, compute_in_place, compute_into, elementwise, loops};

elementwise! {
    div [keeps 1] => cheap divide;
    floor_divide [keeps 1] [if check_divisor_is_nonzero(this, other)?] => |[a, b]| a.floor_divided(b);
    remainder [if check_divisor_is_nonzero(this, other)?] => |[a, b]| a.floored_remainder(b);
    fmod [if check_divisor_is_nonzero(this, other)?] => |[a, b]| a.truncated_remainder(b);
}

const TRUE_DIVISION_LOOPS: Loops<'static, 2> = &loops!([f32 f64 Complex32 Complex64] keeps 1 |[a, b]| a.divide(b));
const FLOOR_DIVISION_LOOPS: Loops<'static, 2> = &loops!([f32 f64 i64] keeps 1 |[a, b]| a.floor_divided(b));
const TRUNC_DIVISION_LOOPS: Loops<'static, 2> = &loops!([f32 f64 i64] keeps 1 |[a, b]| a.trunc_divided(b));
const TRUNC_DIVISION_F16_LOOPS: Loops<'static, 2> =
    &loops!([f32] keeps 1 |[a, b]| f16::from_f32(a / b).to_f32().trunc());
const TRUNC_DIVISION_BF16_LOOPS: Loops<'static, 2> =
    &loops!([f32] keeps 1 |[a, b]| bf16::from_f32(a / b).to_f32().trunc());

#[op_impl(aten::floor_divide_, CPU)]
fn floor_divide_(this: &mut Tensor, other: &Tensor) -> Result<()> {
    check_divisor_is_nonzero(this, other)?;
    compute_in_place::<aten::floor_divide, aten::floor_divide_, _>(this, [None, Some(other)], FLOOR_DIVISION_LOOPS)
}

/// Returns the loop of a rounded division. It uses the promotion of `floor_divide` for both kinds of rounding.
fn rounded_division_loops(this: &Tensor, other: &Tensor, rounding: Rounding) -> Result<Loops<'static, 2>> {
    check_divisor_is_nonzero(this, other)?;
    Ok(match rounding {
        Rounding::Floor => FLOOR_DIVISION_LOOPS,
        Rounding::Trunc if other.geometry().count() == 1 => TRUNC_DIVISION_LOOPS,
        // With several divisors in a 16-bit dtype, the quotient is rounded to that dtype before it is rounded to an integer.
        Rounding::Trunc => match result_dtype([this, other]) {
            DType::F16 => TRUNC_DIVISION_F16_LOOPS,
            DType::BF16 => TRUNC_DIVISION_BF16_LOOPS,
            _ => TRUNC_DIVISION_LOOPS,
        },
    })
}

#[op_impl(aten::div_tensor_mode, CPU, in_place, strided, converts)]
#[expect(clippy::ref_option, reason = "a kernel takes a reference to the value of its plan")]
fn div_mode(plan: &Option<Rounding>, out: &mut Tensor, this: &Tensor, other: &Tensor) -> Result<()> {
    match *plan {
        None => compute_into::<aten::div, _>(("out", out), [this, other], TRUE_DIVISION_LOOPS),
        Some(rounding) => compute_into::<aten::floor_divide, _>(
            ("out", out),
            [this, other],
            rounded_division_loops(this, other, rounding)?,
        ),
    }
}

/// Returns an error for an integer division by zero, before anything is written.
fn check_divisor_is_nonzero(this: &Tensor, other: &Tensor) -> Result<()> {
    let dtype = result_dtype([this, other]);
    if dtype.is_floating() || dtype.is_complex() || this.sizes().contains(&0) {
        return Ok(());
    }
    // A divisor that does not fit the dtype wraps, and may then be zero.
    let narrowed = (other.dtype().promote(dtype) != dtype).then(|| to_contiguous(other, dtype)).transpose()?;
    let other = narrowed.as_ref().unwrap_or(other);
    let has_zero = match other.dtype() {
        DType::Bool => contains_element(other, Bool(0)),
        DType::U8 => contains_element(other, 0_u8),
        DType::I8 => contains_element(other, 0_i8),
        DType::I16 => contains_element(other, 0_i16),
        DType::I32 => contains_element(other, 0_i32),
        _ => contains_element(other, 0_i64),
    };
    if has_zero? { Err(BadArgument::new("other", Problem::DivisionByZero).into()) } else { Ok(()) }
}

fn contains_element<T: Element>(tensor: &Tensor, element: T) -> Result<bool> {
    // A tensor on another device is refused when the operands are borrowed.
    if tensor.device() != dispatch_runtime::Device::CPU {
        return Ok(false);
    }
    if tensor.geometry().is_contiguous() {
        return Ok(tensor.read::<T>()?.contains(&element));
    }
    Ok(tensor.elements::<T>()?.iter().any(|x| x == element))
}
