//! Kernels of the three transforms: complex to complex, real to complex, and complex to real.
//!
//! The memory of a result has the transformed dimensions last. So its last dimension is transformed as contiguous lines, and the others as
//! columns.

use aten::FftPlan;
use dispatch_runtime::Dims;
use dispatch_runtime::prelude::*;
use engine::allocation::to_usize;
use engine::compute::ComputeType;
use engine::contiguous::write_contiguous;
use engine::data_movement::{copy_elements, strided_view, to_contiguous};
use rustfft::FftDirection;
use rustfft::num_complex::Complex;

use crate::line_transform::{FftFloat, LineKind, LineTransform};
use crate::lines::{transform_columns, transform_lines, transform_lines_in_place};
use crate::real_lines::{transform_real_lines, transform_to_real_lines};

#[op_impl(aten::_fft_c2c, CPU)]
fn _fft_c2c(plan: &FftPlan, out: &mut Tensor, this: &Tensor, forward: bool) -> Result<()> {
    let direction = if forward { FftDirection::Forward } else { FftDirection::Inverse };
    match this.dtype() {
        DType::C64 => complex_to_complex::<f32>(plan, out, this, direction),
        _ => complex_to_complex::<f64>(plan, out, this, direction),
    }
}

#[op_impl(aten::_fft_r2c, CPU)]
fn _fft_r2c(plan: &FftPlan, out: &mut Tensor, this: &Tensor) -> Result<()> {
    match this.dtype() {
        DType::F32 => real_to_complex::<f32>(plan, out, this),
        _ => real_to_complex::<f64>(plan, out, this),
    }
}

#[op_impl(aten::_fft_c2r, CPU)]
fn _fft_c2r(plan: &FftPlan, out: &mut Tensor, this: &Tensor) -> Result<()> {
    match this.dtype() {
        DType::C64 => complex_to_real::<f32>(plan, out, this),
        _ => complex_to_real::<f64>(plan, out, this),
    }
}

fn complex_to_complex<T: FftFloat>(
    plan: &FftPlan,
    out: &mut Tensor,
    this: &Tensor,
    direction: FftDirection,
) -> Result<()>
where
    Complex<T>: ComputeType,
{
    if out.geometry().count() == 0 || plan.dims.is_empty() {
        return copy_elements(out, this);
    }
    let (from, mut to) = (in_memory_order(this, plan)?, in_memory_order(out, plan)?);
    let sizes = Dims::from_slice(to.sizes());
    let kind = LineKind { length: last_size(&sizes), direction, is_real: false };
    let (transform, scale) = (LineTransform::<T>::get(kind)?, T::rounded(plan.scale));
    if from.geometry().is_contiguous() {
        let from = from.read::<Complex<T>>()?;
        write_contiguous(&mut to, |to| {
            transform_lines(&transform, &from, to, scale)?;
            transform_other_dims(plan, &sizes, direction, to)
        })
    } else {
        copy_elements(&mut to, &from)?;
        write_contiguous(&mut to, |to| {
            transform_lines_in_place(&transform, to, scale)?;
            transform_other_dims(plan, &sizes, direction, to)
        })
    }
}

fn real_to_complex<T: FftFloat + ComputeType>(plan: &FftPlan, out: &mut Tensor, this: &Tensor) -> Result<()>
where
    Complex<T>: ComputeType,
{
    if out.geometry().count() == 0 {
        return Ok(());
    }
    let (from, mut to) = (contiguous_in_memory_order(this, plan)?, in_memory_order(out, plan)?);
    let sizes = Dims::from_slice(to.sizes());
    let direction = FftDirection::Forward;
    let kind = LineKind { length: last_size(from.sizes()), direction, is_real: true };
    let transform = LineTransform::<T>::get(kind)?;
    let from = from.read::<T>()?;
    write_contiguous(&mut to, |to| {
        transform_real_lines(&transform, &from, to, last_size(&sizes), T::rounded(plan.scale))?;
        transform_other_dims(plan, &sizes, direction, to)
    })
}

fn complex_to_real<T: FftFloat + ComputeType>(plan: &FftPlan, out: &mut Tensor, this: &Tensor) -> Result<()>
where
    Complex<T>: ComputeType,
{
    if out.geometry().count() == 0 {
        return Ok(());
    }
    let direction = FftDirection::Inverse;
    let mut to = in_memory_order(out, plan)?;
    let kind = LineKind { length: last_size(to.sizes()), direction, is_real: true };
    let transform = LineTransform::<T>::get(kind)?;
    let from = if plan.dims.len() == 1 {
        contiguous_in_memory_order(this, plan)?
    } else {
        let mut copy = to_contiguous(&in_memory_order(this, plan)?, this.dtype())?;
        let sizes = Dims::from_slice(copy.sizes());
        write_contiguous(&mut copy, |copy| transform_other_dims::<T>(plan, &sizes, direction, copy))?;
        copy
    };
    let from = from.read::<Complex<T>>()?;
    write_contiguous(&mut to, |to| {
        transform_to_real_lines(&transform, &from, to, T::rounded(plan.scale))?;
        Ok(())
    })
}

/// Transforms all transformed dimensions except the last one. The sizes are in the order of memory.
fn transform_other_dims<T: FftFloat>(
    plan: &FftPlan,
    sizes: &[i64],
    direction: FftDirection,
    elements: &mut [Complex<T>],
) -> Result<()> {
    let mut columns = last_size(sizes);
    for at in (0..sizes.len() - 1).rev() {
        let length = to_usize(sizes[at]);
        if plan.dims.contains(&plan.memory_order[at]) {
            let kind = LineKind { length, direction, is_real: false };
            transform_columns(&*LineTransform::get(kind)?, elements, columns)?;
        }
        columns *= length;
    }
    Ok(())
}

/// Returns a view of a tensor with its dimensions in the order of the result's memory.
fn in_memory_order(tensor: &Tensor, plan: &FftPlan) -> Result<Tensor> {
    let geometry = tensor.geometry();
    let in_order = |values: &[i64]| plan.memory_order.iter().map(|&dim| values[dim]).collect::<Dims>();
    strided_view(tensor, &in_order(geometry.sizes()), &in_order(geometry.strides()), geometry.offset())
}

/// Returns the tensor with its dimensions in the order of the result's memory, copied if it is not contiguous in that order.
fn contiguous_in_memory_order(tensor: &Tensor, plan: &FftPlan) -> Result<Tensor> {
    let view = in_memory_order(tensor, plan)?;
    if view.geometry().is_contiguous() { Ok(view) } else { to_contiguous(&view, tensor.dtype()) }
}

fn last_size(sizes: &[i64]) -> usize {
    sizes.last().map_or(1, |&size| to_usize(size))
}
