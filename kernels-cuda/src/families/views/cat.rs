//! CUDA kernel of `cat`, which concatenates tensors.

use aten::CatPlan;

use crate::engine::data_movement::concatenate;
use crate::prelude::*;

#[op_impl(aten::cat, CUDA)]
fn cat(plan: &CatPlan<'_>, out: &mut Tensor) -> Result<()> {
    concatenate(out, &plan.tensors, plan.dim)
}
