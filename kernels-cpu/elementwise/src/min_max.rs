//! Kernels of elementwise maxima, minima and clamping.

use dispatch_runtime::{PointwisePlan, Tensor};

use engine::compute::Ordered;
use engine::elementwise::{BoundLoop, Loops, compute_into, elementwise, fusible, loops};

elementwise! {
    maximum [few] => cheap larger;
    minimum [few] => cheap smaller;
    fmax => |[a, b]| a.fmax(b);
    fmin => |[a, b]| a.fmin(b);
    clamp_min_tensor => cheap larger;
    clamp_max_tensor => cheap smaller;
}

const CLAMP_MIN_LOOPS: Loops<'static, 2> = &loops!([f32 f64 i32 i64] cheap larger);
const CLAMP_MAX_LOOPS: Loops<'static, 2> = &loops!([f32 f64 i32 i64] cheap smaller);
const CLAMP_LOOPS: Loops<'static, 3> = &loops!([f32 f64 i32 i64] cheap clamp);

fusible! {
#[op_impl(aten::clamp_tensor, CPU, in_place, strided, converts)]
fn clamp(_plan: &PointwisePlan, out: &mut Tensor, _: ...) -> Result<()> {
    match (min, max) {
        (Some(min), Some(max)) => compute_into::<aten::clamp_tensor, _>(("out", out), [this, min, max], CLAMP_LOOPS),
        (Some(min), None) => compute_into::<aten::clamp_min_tensor, _>(("out", out), [this, min], CLAMP_MIN_LOOPS),
        (None, max) => compute_into::<aten::clamp_max_tensor, _>(("out", out), [this, max.unwrap_or(this)], CLAMP_MAX_LOOPS),
    }
}

    |this: &Tensor, min: Option<&Tensor>, max: Option<&Tensor>| match (min, max) {
        (Some(min), Some(max)) => BoundLoop::for_operator::<aten::clamp_tensor, _>([this, min, max], CLAMP_LOOPS),
        (Some(min), None) => BoundLoop::for_operator::<aten::clamp_min_tensor, _>([this, min], CLAMP_MIN_LOOPS),
        (None, Some(max)) => BoundLoop::for_operator::<aten::clamp_max_tensor, _>([this, max], CLAMP_MAX_LOOPS),
        (None, None) => None,
    }
}
