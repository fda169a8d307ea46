//! CUDA kernel of `cat`, which concatenates tensors.

use aten::Joined;

use crate::engine::data_movement::joined;
use crate::prelude::*;

#[op_impl(aten::cat, CUDA)]
fn cat(plan: &Joined<'_>, out: &mut Tensor) -> Result<()> {
    joined(out, &plan.parts, plan.dim)
}
