//! Kernels that write or add elements at indices along one or several dimensions.

use aten::{IndexAddPlan, IndexPlan, ScatterReducePlan};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Complex32, Complex64, Spec};

use crate::index::{IndexLists, NegativeIndex, check_indices, index_to_vec};
use crate::index_reduction::{ReductionTarget, add_along_axes, reduce_into, to_compute_dtype};
use crate::scatter::{axes_with_index_table, checked_indices, scalar_tensor};
use engine::compute::ComputeType;
use engine::convert::compute_dtype;
use engine::data_movement::{
    AxisOffsets, CopyAxis, broadcast_to_contiguous, copy_along_axes, copy_elements, to_contiguous,
};
use engine::reduce::with_compute_type;

#[op_impl(aten::index_copy, CPU)]
fn index_copy(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor, source: &Tensor) -> Result<()> {
    let list = checked_indices(this, *plan, index, NegativeIndex::Reject)?;
    copy_elements(out, this)?;
    let axes = axes_with_index_table(source, *plan, &list, out.strides());
    copy_along_axes(out, source, &axes)
}

#[op_impl(aten::index_add, CPU)]
fn index_add(plan: &IndexAddPlan, out: &mut Tensor, this: &Tensor, index: &Tensor, source: &Tensor) -> Result<()> {
    let list = checked_indices(this, plan.dim, index, NegativeIndex::Reject)?;
    let computed = compute_dtype(this.dtype());
    let scaled = if plan.alpha == Scalar::Int(1) {
        to_compute_dtype(source)?
    } else {
        let mut scaled = to_contiguous(source, computed)?;
        with_compute_type!(aten::index_add, computed, T: [f32, f64, Complex32, Complex64, i64] => {
            scale_in_place::<T>(&mut scaled, plan.alpha)
        })?;
        scaled
    };
    let axes = axes_with_index_table(&scaled, plan.dim, &list, out.strides());
    add_along_axes(out, this, &scaled, &axes)
}

fn scale_in_place<T: ComputeType>(tensor: &mut Tensor, by: Scalar) -> Result<()> {
    let by = T::from_scalar(by);
    tensor.write::<T>()?.iter_mut().for_each(|element| *element = element.times(by));
    Ok(())
}

#[op_impl(aten::index_reduce, CPU)]
fn index_reduce(plan: &ScatterReducePlan, out: &mut Tensor, _: ...) -> Result<()> {
    let list = checked_indices(this, plan.dim, index, NegativeIndex::Reject)?;
    let source = to_compute_dtype(source)?;
    let axes = axes_with_index_table(&source, plan.dim, &list, out.strides());
    reduce_into(out, this, &source, &ReductionTarget::Axes(&axes), plan.reduce, include_self)
}

#[op_impl(aten::index_fill_int_scalar, CPU)]
fn index_fill(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor, value: Scalar) -> Result<()> {
    let list = checked_indices(this, *plan, index, NegativeIndex::Wrap)?;
    copy_elements(out, this)?;
    // A tensor without dimensions has one element, however many indices there are.
    if list.is_empty() {
        return Ok(());
    }
    let mut axes = axes_with_index_table(this, *plan, &list, out.strides());
    axes.iter_mut().for_each(|axis| axis.from = AxisOffsets::Stride(0));
    if let Some(axis) = axes.get_mut(*plan) {
        axis.size = i64::try_from(list.len()).unwrap_or(i64::MAX);
    }
    copy_along_axes(out, &scalar_tensor(value, this.dtype())?, &axes)
}

#[op_impl(aten::index_put, CPU)]
fn index_put(plan: &IndexPlan, out: &mut Tensor, this: &Tensor, values: &Tensor, accumulate: bool) -> Result<()> {
    let spread = *values.sizes() != *plan.sizes || !values.geometry().is_contiguous();
    let values =
        if spread { broadcast_to_contiguous("values", values, this.dtype(), &plan.sizes)? } else { values.clone() };
    let lists = IndexLists::new(plan)?;
    let steps = lists.dims_of_copy(0..lists.position_count(), this.sizes(), out.strides())?;
    let axes: Vec<CopyAxis> = steps.into_iter().map(|(size, to, from)| CopyAxis { size, to, from }).collect();
    if accumulate {
        return add_along_axes(out, this, &to_compute_dtype(&values)?, &axes);
    }
    copy_elements(out, this)?;
    copy_along_axes(out, &values, &axes)
}

#[op_impl(aten::put, CPU)]
fn put(_plan: &(), out: &mut Tensor, _: ...) -> Result<()> {
    let mut list = index_to_vec(index)?;
    check_indices("index", &mut list, this.geometry().count(), NegativeIndex::Wrap)?;
    let axes =
        [CopyAxis { size: index.geometry().count(), to: AxisOffsets::Table(list), from: AxisOffsets::Stride(1) }];
    let source = to_contiguous(source, source.dtype())?;
    // Indices count elements in row-major order.
    let is_row = out.geometry().is_contiguous();
    let mut row = if is_row { out.clone() } else { Spec::contiguous(this.dtype(), this.sizes()).on(this.device())? };
    if accumulate {
        add_along_axes(&mut row, this, &to_compute_dtype(&source)?, &axes)?;
    } else {
        copy_elements(&mut row, this)?;
        copy_along_axes(&mut row, &source, &axes)?;
    }
    if is_row { Ok(()) } else { copy_elements(out, &row) }
}
