//! Elementwise arithmetic of two operands.

use dispatch_runtime::prelude::*;
use crate::elementwise::{Lanes, fresh, in_place, into};

fn loops(alpha: Scalar) -> impl Fn(DType, &mut Lanes<'_, 2>) -> bool {
    move |dtype, lanes| {
        match dtype {
            DType::F32 => { let alpha = alpha.to_f64().unwrap_or(0.0) as f32; lanes.run(move |[a, b]: [f32; 2]| a + alpha * b) }
            DType::F64 => { let alpha = alpha.to_f64().unwrap_or(0.0); lanes.run(move |[a, b]: [f64; 2]| a + alpha * b) }
            _ => return false,
        }
        true
    }
}

#[op_impl(aten::add, CPU)]
fn add(this: &Tensor, other: &Tensor, alpha: Scalar) -> Result<Tensor> {
    fresh::<aten::add, 2>([this, other], &loops(alpha))
}

#[op_impl(aten::add_, CPU)]
fn add_(this: &mut Tensor, other: &Tensor, alpha: Scalar) -> Result<()> {
    in_place::<aten::add, 2>(this, [other], &loops(alpha))
}

#[op_impl(aten::add_out, CPU)]
fn add_out(this: &Tensor, other: &Tensor, alpha: Scalar, out: &mut Tensor) -> Result<()> {
    into::<aten::add, 2>(out, [this, other], &loops(alpha))
}
