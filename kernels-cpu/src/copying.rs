//! Copies between tensors of the CPU, and what fills one.

use dispatch_runtime::{DType, Device, Layout, MemoryFormat, Operands, Result, Scalar, Tensor, op_impl};

use crate::elementwise::{Bound, fusible, transfer};

#[op_impl(aten::copy_, CPU)]
fn copy_(this: &mut Tensor, src: &Tensor, _non_blocking: bool) -> Result<()> {
    aten::check_copy(this, src)?;
    written(this, src, "src")
}

fusible! {
    aten::_to_copy by _to_copy |this: &Tensor, dtype: Option<DType>, _layout: Option<Layout>, device: Option<Device>, _pinned: Option<bool>, _non_blocking: bool, format: Option<MemoryFormat>| {
        let stays = device.is_none() && format.is_none_or(|format| format == MemoryFormat::Preserve);
        stays.then(|| Bound::conversion(this.dtype(), dtype.unwrap_or_else(|| this.dtype())))
    }
}

#[op_impl(aten::fill__scalar, CPU)]
fn fill_scalar_(this: &mut Tensor, value: Scalar) -> Result<()> {
    aten::check_filling("value", value, this.dtype(), this.geometry().count())?;
    written(this, &Tensor::number(value), "value")
}

#[op_impl(aten::fill_, CPU)]
fn fill_(this: &mut Tensor, value: &Tensor) -> Result<()> {
    aten::check_single(value)?;
    written(this, value, "value")
}

#[op_impl(aten::zero_, CPU)]
fn zero_(this: &mut Tensor) -> Result<()> {
    written(this, &Tensor::number(0.into()), "self")
}

fn written(this: &mut Tensor, src: &Tensor, name: &'static str) -> Result<()> {
    let operands = Operands::take(&["self"], [this], &[name], [src])?;
    transfer(&operands);
    Ok(())
}
