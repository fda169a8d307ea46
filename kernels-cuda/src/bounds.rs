//! The larger, the smaller, and what is kept between them.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::{Result, Tensor, op_impl};

use crate::elementwise::{fresh, in_place, into};

elementwise!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    maximum - maximum_out [F32 F64 I32 I64] (this, other) => |a, b| "return larger(a, b);";
    minimum - minimum_out [F32 F64 I32 I64] (this, other) => |a, b| "return smaller(a, b);";
    fmax - fmax_out [F32 F64 I64] (this, other) => |a, b| "return larger_number(a, b);";
    fmin - fmin_out [F32 F64 I64] (this, other) => |a, b| "return smaller_number(a, b);";
    clamp_min_tensor clamp_min__tensor clamp_min_tensor_out [F32 F64 I32 I64] (this, min) => |a, b| "return larger(a, b);";
    clamp_max_tensor clamp_max__tensor clamp_max_tensor_out [F32 F64 I32 I64] (this, max) => |a, b| "return smaller(a, b);";
});

loops!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    LOW clamp_low [F32 F64 I32 I64] |x, min| "return larger(x, min);";
    HIGH clamp_high [F32 F64 I32 I64] |x, max| "return smaller(x, max);";
    CLAMP clamp [F32 F64 I32 I64] |x, min, max| "return smaller(larger(x, min), max);";
});

#[op_impl(aten::clamp_tensor, CUDA)]
fn clamp(this: &Tensor, min: Option<&Tensor>, max: Option<&Tensor>) -> Result<Tensor> {
    match (min, max) {
        (Some(min), Some(max)) => fresh::<aten::clamp_tensor, _>(&CLAMP, [this, min, max], &[]),
        (Some(min), None) => fresh::<aten::clamp_min_tensor, _>(&LOW, [this, min], &[]),
        (None, Some(max)) => fresh::<aten::clamp_max_tensor, _>(&HIGH, [this, max], &[]),
        (None, None) => Err(aten::unbounded().into()),
    }
}

#[op_impl(aten::clamp__tensor, CUDA)]
fn clamp_(this: &mut Tensor, min: Option<&Tensor>, max: Option<&Tensor>) -> Result<()> {
    match (min, max) {
        (Some(min), Some(max)) => {
            in_place::<aten::clamp_tensor, aten::clamp__tensor, _>(&CLAMP, this, [None, Some(min), Some(max)], &[])
        }
        (Some(min), None) => {
            in_place::<aten::clamp_min_tensor, aten::clamp__tensor, _>(&LOW, this, [None, Some(min)], &[])
        }
        (None, Some(max)) => {
            in_place::<aten::clamp_max_tensor, aten::clamp__tensor, _>(&HIGH, this, [None, Some(max)], &[])
        }
        (None, None) => Err(aten::unbounded().into()),
    }
}

#[op_impl(aten::clamp_tensor_out, CUDA)]
fn clamp_out(this: &Tensor, min: Option<&Tensor>, max: Option<&Tensor>, out: &mut Tensor) -> Result<()> {
    match (min, max) {
        (Some(min), Some(max)) => into::<aten::clamp_tensor, _>(&CLAMP, out, [this, min, max], &[]),
        (Some(min), None) => into::<aten::clamp_min_tensor, _>(&LOW, out, [this, min], &[]),
        (None, Some(max)) => into::<aten::clamp_max_tensor, _>(&HIGH, out, [this, max], &[]),
        (None, None) => Err(aten::unbounded().into()),
    }
}
