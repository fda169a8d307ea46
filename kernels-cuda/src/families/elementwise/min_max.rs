//! CUDA kernels of elementwise maximum, minimum and `clamp`.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::PointwisePlan;

use crate::engine::elementwise::compute_into;
use crate::prelude::*;

elementwise!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    maximum [few] => |a, b| "return maximum(a, b);";
    minimum [few] => |a, b| "return minimum(a, b);";
    fmax => |a, b| "return max_ignoring_nan(a, b);";
    fmin => |a, b| "return min_ignoring_nan(a, b);";
    clamp_min_tensor [few] => |a, b| "return maximum(a, b);";
    clamp_max_tensor [few] => |a, b| "return minimum(a, b);";
});

loops!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    CLAMP_MIN_LOOPS clamp_low [F32 F64 I32 I64] |x, min| "return maximum(x, min);";
    CLAMP_MAX_LOOPS clamp_high [F32 F64 I32 I64] |x, max| "return minimum(x, max);";
    CLAMP_LOOPS clamp [F32 F64 I32 I64] |x, min, max| "return minimum(maximum(x, min), max);";
});

#[op_impl(aten::clamp_tensor, CUDA, in_place, strided, converts)]
fn clamp(
    _plan: &PointwisePlan,
    out: &mut Tensor,
    this: &Tensor,
    min: Option<&Tensor>,
    max: Option<&Tensor>,
) -> Result<()> {
    match (min, max) {
        (Some(min), Some(max)) => {
            compute_into::<aten::clamp_tensor, _>(("out", out), [this, min, max], &CLAMP_LOOPS.bind_scalars(&[]))
        }
        (Some(min), None) => {
            compute_into::<aten::clamp_min_tensor, _>(("out", out), [this, min], &CLAMP_MIN_LOOPS.bind_scalars(&[]))
        }
        (None, max) => compute_into::<aten::clamp_max_tensor, _>(
            ("out", out),
            [this, max.unwrap_or(this)],
            &CLAMP_MAX_LOOPS.bind_scalars(&[]),
        ),
    }
}
