//! The kernel of concatenation.

use aten::CatPlan;
use dispatch_runtime::Geometry;
use dispatch_runtime::prelude::*;

use engine::data_movement::copy_from_argument;

#[op_impl(aten::cat, CPU)]
fn cat(plan: &CatPlan<'_>, out: &mut Tensor) -> Result<()> {
    let mut start = out.geometry().offset();
    for part in &plan.tensors {
        if let Some(room) = Geometry::strided(part.sizes(), out.strides(), start) {
            copy_from_argument("tensors", &mut out.restride(room)?, part)?;
        }
        start = start.saturating_add(part.sizes()[plan.dim].saturating_mul(out.strides()[plan.dim]));
    }
    Ok(())
}
