//! Kernels of `empty` and `full`.

use dispatch_runtime::prelude::*;
use engine::fill::fill;

#[op_impl(aten::empty_memory_format, CPU)]
#[op_impl(aten::empty_strided, CPU)]
fn empty(_plan: &(), _out: &mut Tensor) -> Result<()> {
    Ok(())
}

#[op_impl(aten::full, CPU)]
fn full(_plan: &(), out: &mut Tensor, fill_value: Scalar) -> Result<()> {
    fill(out, fill_value)
}
