//! The larger, the smaller, and what is kept between them.

use dispatch_runtime::{Result, Tensor, op_impl};

use crate::compute::Ordered;
use crate::elementwise::{Bound, Loops, elementwise, fresh, fusible, in_place, into, loops};

elementwise! {
    maximum - maximum_out [f32 f64 i32 i64] (this, other) => cheap larger;
    minimum - minimum_out [f32 f64 i32 i64] (this, other) => cheap smaller;
    fmax - fmax_out [f32 f64 i64] (this, other) => |[a, b]| a.larger_number(b);
    fmin - fmin_out [f32 f64 i64] (this, other) => |[a, b]| a.smaller_number(b);
    clamp_min_tensor clamp_min__tensor clamp_min_tensor_out [f32 f64 i64] (this, min) => cheap larger;
    clamp_max_tensor clamp_max__tensor clamp_max_tensor_out [f32 f64 i64] (this, max) => cheap smaller;
}

const LOW: Loops<'static, 2> = &loops!([f32 f64 i32 i64] cheap larger);
const HIGH: Loops<'static, 2> = &loops!([f32 f64 i32 i64] cheap smaller);
const CLAMP: Loops<'static, 3> = &loops!([f32 f64 i32 i64] cheap between);

fusible! {
    #[op_impl(aten::clamp_tensor, CPU)]
    fn clamp(this: &Tensor, min: Option<&Tensor>, max: Option<&Tensor>) -> Result<Tensor> {
        match (min, max) {
            (Some(min), Some(max)) => fresh::<aten::clamp_tensor, _>([this, min, max], CLAMP),
            (Some(min), None) => fresh::<aten::clamp_min_tensor, _>([this, min], LOW),
            (None, Some(max)) => fresh::<aten::clamp_max_tensor, _>([this, max], HIGH),
            (None, None) => Err(aten::unbounded().into()),
        }
    }

    |this: &Tensor, min: Option<&Tensor>, max: Option<&Tensor>| match (min, max) {
        (Some(min), Some(max)) => Bound::of::<aten::clamp_tensor, _>([this, min, max], CLAMP),
        (Some(min), None) => Bound::of::<aten::clamp_min_tensor, _>([this, min], LOW),
        (None, Some(max)) => Bound::of::<aten::clamp_max_tensor, _>([this, max], HIGH),
        (None, None) => None,
    }
}

#[op_impl(aten::clamp__tensor, CPU)]
fn clamp_(this: &mut Tensor, min: Option<&Tensor>, max: Option<&Tensor>) -> Result<()> {
    match (min, max) {
        (Some(min), Some(max)) => {
            in_place::<aten::clamp_tensor, aten::clamp__tensor, _>(this, [None, Some(min), Some(max)], CLAMP)
        }
        (Some(min), None) => in_place::<aten::clamp_min_tensor, aten::clamp__tensor, _>(this, [None, Some(min)], LOW),
        (None, Some(max)) => in_place::<aten::clamp_max_tensor, aten::clamp__tensor, _>(this, [None, Some(max)], HIGH),
        (None, None) => Err(aten::unbounded().into()),
    }
}

#[op_impl(aten::clamp_tensor_out, CPU)]
fn clamp_out(this: &Tensor, min: Option<&Tensor>, max: Option<&Tensor>, out: &mut Tensor) -> Result<()> {
    match (min, max) {
        (Some(min), Some(max)) => into::<aten::clamp_tensor, _>(out, [this, min, max], CLAMP),
        (Some(min), None) => into::<aten::clamp_min_tensor, _>(out, [this, min], LOW),
        (None, Some(max)) => into::<aten::clamp_max_tensor, _>(out, [this, max], HIGH),
        (None, None) => Err(aten::unbounded().into()),
    }
}
