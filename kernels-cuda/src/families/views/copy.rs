//! CUDA kernels of `copy_`, `fill` and `zero`.

use dispatch_runtime::PointwisePlan;

use crate::engine::elementwise::begin_checked_write;
use crate::engine::transfer::{contiguous_copy, copy_between_devices, download};
use crate::prelude::*;

#[op_impl(aten::copy_, CUDA)]
fn copy_(_plan: &(), this: &mut Tensor, src: &Tensor, non_blocking: bool) -> Result<()> {
    if this.device().key() == Device::CPU.key() {
        return download(this, src, non_blocking);
    }
    let _writing = begin_checked_write(&["src"], "self", this, &[src])?;
    copy_between_devices(this, src, non_blocking)
}

#[op_impl(aten::fill_scalar, CUDA, in_place, strided, converts)]
fn fill_scalar(_plan: &PointwisePlan, out: &mut Tensor, value: Scalar) -> Result<()> {
    copy_into(out, &Tensor::number(value))
}

#[op_impl(aten::fill, CUDA, in_place, strided, converts)]
fn fill(_plan: &PointwisePlan, out: &mut Tensor, value: &Tensor) -> Result<()> {
    copy_into(out, value)
}

#[op_impl(aten::zero, CUDA, in_place, strided, converts)]
fn zero(_plan: &PointwisePlan, out: &mut Tensor) -> Result<()> {
    copy_into(out, &Tensor::number(0.into()))
}

#[op_impl(aten::alias_copy, CUDA)]
fn alias_copy(this: &Tensor) -> Result<Tensor> {
    contiguous_copy(this, this.dtype())
}
