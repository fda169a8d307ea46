//! Kernels of scatter operators.

use aten::{ReductionType, ScatterReducePlan};
use dispatch_runtime::Spec;
use dispatch_runtime::prelude::*;

use crate::index::{NegativeIndex, check_indices, index_to_vec, sizes_or_one};
use crate::index_pairs::scatter_along;
use crate::index_reduction::{ReductionTarget, reduce_into, to_compute_dtype};
use engine::data_movement::{AxisOffsets, CopyAxis, copy_elements, strided_view};
use engine::fill::fill;

#[op_impl(aten::scatter_src, CPU)]
fn scatter_src(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor, src: &Tensor) -> Result<()> {
    copy_elements(out, this)?;
    scatter_along(out, *plan, index, src)
}

#[op_impl(aten::scatter_value, CPU)]
fn scatter_value(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor, value: Scalar) -> Result<()> {
    copy_elements(out, this)?;
    scatter_along(out, *plan, index, &broadcast_number_to_index(&scalar_tensor(value, this.dtype())?, index)?)
}

/// Broadcasts a tensor of one number to the sizes of an index.
pub(super) fn broadcast_number_to_index(number: &Tensor, index: &Tensor) -> Result<Tensor> {
    leading_view(number, index.sizes(), &vec![0; index.sizes().len()])
}

fn scatter_reduce_along(
    out: &mut Tensor,
    (dim, reduce): (usize, ReductionType),
    [this, index, src]: [&Tensor; 3],
    include: bool,
) -> Result<()> {
    let from = to_compute_dtype(src)?;
    let Some(line) = as_1d_index(index, dim)? else {
        return reduce_into(out, this, &from, &ReductionTarget::Index(dim, index), reduce, include);
    };
    let list = checked_indices(this, dim, &line, NegativeIndex::Reject)?;
    let from = leading_view(&from, index.sizes(), from.strides())?;
    let axes = axes_with_index_table(&from, dim, &list, out.strides());
    reduce_into(out, this, &from, &ReductionTarget::Axes(&axes), reduce, include)
}

/// Returns an index along a dimension if the index is the same at all positions of the other dimensions, of which there are several.
fn as_1d_index(index: &Tensor, dim: usize) -> Result<Option<Tensor>> {
    let (sizes, strides) = (index.sizes(), index.strides());
    let alike = (0..sizes.len()).all(|other| other == dim || sizes[other] == 1 || strides[other] == 0);
    let wide = (0..sizes.len()).any(|other| other != dim && sizes[other] > 1);
    if alike && wide { leading_view(index, &sizes[dim..=dim], &strides[dim..=dim]).map(Some) } else { Ok(None) }
}

/// Returns a view of the first elements of a tensor, with these sizes and strides.
fn leading_view(tensor: &Tensor, sizes: &[i64], strides: &[i64]) -> Result<Tensor> {
    strided_view(tensor, sizes, strides, tensor.geometry().offset())
}

#[op_impl(aten::scatter_reduce, CPU)]
fn scatter_reduce(
    plan: &ScatterReducePlan,
    out: &mut Tensor,
    this: &Tensor,
    index: &Tensor,
    src: &Tensor,
) -> Result<()> {
    scatter_reduce_along(out, (plan.dim, plan.reduce), [this, index, src], true)
}

#[op_impl(aten::scatter_value_reduce, CPU)]
fn scatter_value_reduce(
    plan: &ScatterReducePlan,
    out: &mut Tensor,
    this: &Tensor,
    index: &Tensor,
    value: Scalar,
) -> Result<()> {
    let number = to_compute_dtype(&scalar_tensor(value, this.dtype())?)?;
    reduce_into(
        out,
        this,
        &broadcast_number_to_index(&number, index)?,
        &ReductionTarget::Index(plan.dim, index),
        plan.reduce,
        true,
    )
}

#[op_impl(aten::scatter_add, CPU)]
fn scatter_add(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor, src: &Tensor) -> Result<()> {
    scatter_reduce_along(out, (*plan, ReductionType::Sum), [this, index, src], true)
}

#[op_impl(aten::scatter_reduce_two, CPU)]
fn scatter_reduce_two(plan: &ScatterReducePlan, out: &mut Tensor, _: ...) -> Result<()> {
    scatter_reduce_along(out, (plan.dim, plan.reduce), [this, index, src], include_self)
}

/// Returns a tensor without dimensions that holds one number.
pub(super) fn scalar_tensor(value: Scalar, dtype: DType) -> Result<Tensor> {
    let mut out = Spec::contiguous(dtype, &[]).on(Device::CPU)?;
    fill(&mut out, value)?;
    Ok(out)
}

/// Returns the dimensions of a copy from `source`: dimension `dim` of the destination uses a table made from `list`, the others use
/// `strides`.
pub(super) fn axes_with_index_table(source: &Tensor, dim: usize, list: &[i64], strides: &[i64]) -> Vec<CopyAxis> {
    let axes = sizes_or_one(source).iter().enumerate().map(|(axis, &size)| {
        let from = AxisOffsets::Stride(source.strides().get(axis).copied().unwrap_or(1));
        let stride = strides.get(axis).copied().unwrap_or(1);
        let to = if axis == dim {
            AxisOffsets::Table(list.iter().map(|position| position * stride).collect())
        } else {
            AxisOffsets::Stride(stride)
        };
        CopyAxis { size, to, from }
    });
    axes.collect()
}

pub(super) fn checked_indices(this: &Tensor, dim: usize, index: &Tensor, negative: NegativeIndex) -> Result<Vec<i64>> {
    let mut list = index_to_vec(index)?;
    check_indices("index", &mut list, this.sizes().get(dim).copied().unwrap_or(1), negative)?;
    Ok(list)
}
