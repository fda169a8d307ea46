//! Tensors out of nothing.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Layout, MemoryFormat};

/// The device that was asked for: a call that got here named one.
pub(crate) fn on(device: Option<Device>) -> Device {
    device.unwrap_or_else(|| crate::gpu::cuda(0))
}

#[op_impl(aten::empty_memory_format, CUDA)]
fn empty_memory_format(
    size: &[i64],
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<Device>,
    pin_memory: Option<bool>,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    aten::empty_spec(size, dtype, layout, pin_memory, memory_format)?.on(on(device))
}

#[op_impl(aten::empty_strided, CUDA)]
fn empty_strided(
    size: &[i64],
    stride: &[i64],
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<Device>,
    pin_memory: Option<bool>,
) -> Result<Tensor> {
    aten::empty_strided_spec(size, stride, dtype, layout, pin_memory)?.on(on(device))
}

#[op_impl(aten::full, CUDA)]
fn full(
    size: &[i64],
    fill_value: Scalar,
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<Device>,
    pin_memory: Option<bool>,
) -> Result<Tensor> {
    let mut out = aten::full_spec(size, fill_value, dtype, layout, pin_memory)?.on(on(device))?;
    crate::copying::write(&mut out, &Tensor::number(fill_value))?;
    Ok(out)
}
