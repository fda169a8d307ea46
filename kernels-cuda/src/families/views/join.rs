//! CUDA kernel of `cat`, which concatenates tensors.

use aten::Cat;

use crate::engine::data_movement::concatenate;
use crate::prelude::*;

#[op_impl(aten::cat, CUDA)]
fn cat(plan: &Cat<'_>, out: &mut Tensor) -> Result<()> {
    concatenate(out, &plan.parts, plan.dim)
}
