//! CUDA kernels of `empty` and `full`.

use crate::prelude::*;

#[op_impl(aten::empty_memory_format, CUDA)]
#[op_impl(aten::empty_strided, CUDA)]
fn empty(_plan: &(), _out: &mut Tensor) -> Result<()> {
    Ok(())
}

#[op_impl(aten::full, CUDA)]
fn full(_plan: &(), out: &mut Tensor, fill_value: Scalar) -> Result<()> {
    copy_into(out, &Tensor::number(fill_value))
}
