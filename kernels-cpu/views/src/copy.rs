//! Kernels of copies between CPU tensors, and of fills.

use dispatch_runtime::{DType, Device, Layout, MemoryFormat, Operands, PointwisePlan, Result, Scalar, Tensor, op_impl};

use engine::data_movement::to_contiguous;
use engine::elementwise::{BoundLoop, copy_converted, fusible};

#[op_impl(aten::copy_, CPU)]
fn copy_(_plan: &(), this: &mut Tensor, src: &Tensor) -> Result<()> {
    copy_to_this(this, src, "src")
}

fusible! {
    aten::_to_copy |this: &Tensor, dtype: Option<DType>, _layout: Option<Layout>, device: Option<Device>, _pinned: Option<bool>, _non_blocking: bool, format: Option<MemoryFormat>| {
        let stays = device.is_none() && format.is_none_or(|format| format == MemoryFormat::Preserve);
        stays.then(|| BoundLoop::for_conversion(this.dtype(), dtype.unwrap_or_else(|| this.dtype())))
    }
}

#[op_impl(aten::fill_scalar, CPU, in_place, strided, converts)]
fn fill_scalar(_plan: &PointwisePlan, out: &mut Tensor, value: Scalar) -> Result<()> {
    copy_to_this(out, &Tensor::number(value), "value")
}

#[op_impl(aten::fill, CPU, in_place, strided, converts)]
fn fill(_plan: &PointwisePlan, out: &mut Tensor, value: &Tensor) -> Result<()> {
    copy_to_this(out, value, "value")
}

#[op_impl(aten::zero, CPU, in_place, strided, converts)]
fn zero(_plan: &PointwisePlan, out: &mut Tensor) -> Result<()> {
    copy_to_this(out, &Tensor::number(0.into()), "self")
}

fn copy_to_this(this: &mut Tensor, src: &Tensor, name: &'static str) -> Result<()> {
    let operands = Operands::borrow(&["self"], [this], &[name], [src])?;
    copy_converted(&operands);
    Ok(())
}

#[op_impl(aten::alias_copy, CPU)]
fn alias_copy(this: &Tensor) -> Result<Tensor> {
    to_contiguous(this, this.dtype())
}
