//! Tensors out of nothing.
#![expect(unsafe_code, reason = "places that a loop nest checked")]

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Element, Layout, MemoryFormat, Spec, operands};

use crate::convert::conversion;
use crate::moves::{GRAIN, Start};
use crate::pool::over;

#[op_impl(aten::empty_memory_format, CPU)]
fn empty_memory_format(
    size: &[i64],
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<Device>,
    pin_memory: Option<bool>,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    let device = device.unwrap_or(Device::CPU);
    match (layout, pin_memory, memory_format) {
        (None, None, None) => Spec::contiguous(dtype.unwrap_or(DType::F32), size).on(device),
        _ => aten::empty_spec(size, dtype, layout, pin_memory, memory_format)?.on(device),
    }
}

#[op_impl(aten::empty_strided, CPU)]
fn empty_strided(
    size: &[i64],
    stride: &[i64],
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<Device>,
    pin_memory: Option<bool>,
) -> Result<Tensor> {
    aten::empty_strided_spec(size, stride, dtype, layout, pin_memory)?.on(device.unwrap_or(Device::CPU))
}

#[op_impl(aten::full, CPU)]
fn full(
    size: &[i64],
    fill_value: Scalar,
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<Device>,
    pin_memory: Option<bool>,
) -> Result<Tensor> {
    let mut out = aten::full_spec(size, fill_value, dtype, layout, pin_memory)?.on(device.unwrap_or(Device::CPU))?;
    fill(&mut out, fill_value)?;
    Ok(out)
}

/// Fills a tensor whose elements lie side by side.
pub(crate) fn fill(out: &mut Tensor, value: Scalar) -> Result<()> {
    match value {
        Scalar::Bool(value) => fill_with(out, &[i64::from(value)]),
        Scalar::Int(value) => fill_with(out, &[value]),
        Scalar::Float(value) => fill_with(out, &[value]),
        Scalar::Complex(value) => fill_with(out, &[value]),
    }
}

fn fill_with<T: Element>(out: &mut Tensor, value: &[T; 1]) -> Result<()> {
    let operands = operands!(write out)?;
    let [to] = operands.written();
    assert!(to.geometry().is_dense(), "a tensor that is filled has no gaps");
    let (start, size) = (Start(to.start()), to.dtype().size());
    let (convert, step) = (conversion(T::DTYPE, to.dtype()), size.cast_signed());
    let count = usize::try_from(to.geometry().count()).unwrap_or(0);
    over(0..count, GRAIN, |piece| {
        let at = start.at(step * piece.start.cast_signed());
        // SAFETY: the elements lie side by side and the operand holds them; a piece's are its own.
        unsafe { convert(value.as_ptr().cast(), 0, at, step, piece.len()) };
    });
    Ok(())
}

/// A tensor of these sizes and elements, converted.
pub(crate) fn of<T: Element>(elements: &[T], spec: Spec) -> Result<Tensor> {
    let mut out = spec.on(Device::CPU)?;
    let operands = operands!(write out)?;
    let [to] = operands.written();
    assert!(to.geometry().is_contiguous(), "elements are given side by side");
    let count = usize::try_from(to.geometry().count()).unwrap_or(0).min(elements.len());
    let step = to.dtype().size().cast_signed();
    // SAFETY: the elements lie side by side on both sides, and the operand holds the written ones.
    unsafe {
        conversion(T::DTYPE, to.dtype())(
            elements.as_ptr().cast(),
            size_of::<T>().cast_signed(),
            to.start(),
            step,
            count,
        );
    }
    drop(operands);
    Ok(out)
}
