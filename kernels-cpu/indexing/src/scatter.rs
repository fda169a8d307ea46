//! Kernels of scatter operators.

use aten::{ReductionType, ScatterReducePlan};
use dispatch_runtime::Spec;
use dispatch_runtime::prelude::*;

use crate::combine::{CombineTarget, ready, reduced};
use crate::gather::put;
use crate::index::{Negative, inside, positions, sizes_or_one};
use engine::data_movement::{Axis, Step, copy, viewed};
use engine::fill::fill;

#[op_impl(aten::scatter_src, CPU)]
fn scatter_src(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor, src: &Tensor) -> Result<()> {
    copy(out, this)?;
    put(out, *plan, index, src)
}

#[op_impl(aten::scatter_value, CPU)]
fn scatter_value(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor, value: Scalar) -> Result<()> {
    copy(out, this)?;
    put(out, *plan, index, &repeated(&one(value, this.dtype())?, index)?)
}

/// Returns one number, broadcast to the sizes of an index.
pub(super) fn repeated(number: &Tensor, index: &Tensor) -> Result<Tensor> {
    corner(number, index.sizes(), &vec![0; index.sizes().len()])
}

fn scattered(
    out: &mut Tensor,
    (at, how): (usize, ReductionType),
    [this, index, src]: [&Tensor; 3],
    include: bool,
) -> Result<()> {
    let from = ready(src)?;
    let Some(line) = line_of(index, at)? else {
        return reduced(out, this, &from, &CombineTarget::Index(at, index), how, include);
    };
    let list = list_of(this, at, &line, Negative::IsOutside)?;
    let from = corner(&from, index.sizes(), from.strides())?;
    let axes = rows(&from, at, &list, out.strides());
    reduced(out, this, &from, &CombineTarget::Along(&axes), how, include)
}

/// Returns an index along a dimension if the index is the same at all positions of the other dimensions, of which there are several.
fn line_of(index: &Tensor, at: usize) -> Result<Option<Tensor>> {
    let (sizes, strides) = (index.sizes(), index.strides());
    let alike = (0..sizes.len()).all(|dim| dim == at || sizes[dim] == 1 || strides[dim] == 0);
    let wide = (0..sizes.len()).any(|dim| dim != at && sizes[dim] > 1);
    if alike && wide { corner(index, &sizes[at..=at], &strides[at..=at]).map(Some) } else { Ok(None) }
}

/// Returns a view of the first elements of a tensor, with these sizes and strides.
fn corner(tensor: &Tensor, sizes: &[i64], strides: &[i64]) -> Result<Tensor> {
    viewed(tensor, sizes, strides, tensor.geometry().offset())
}

#[op_impl(aten::scatter_reduce, CPU)]
fn scatter_reduce(
    plan: &ScatterReducePlan,
    out: &mut Tensor,
    this: &Tensor,
    index: &Tensor,
    src: &Tensor,
) -> Result<()> {
    scattered(out, (plan.dim, plan.reduce), [this, index, src], true)
}

#[op_impl(aten::scatter_value_reduce, CPU)]
fn scatter_value_reduce(
    plan: &ScatterReducePlan,
    out: &mut Tensor,
    this: &Tensor,
    index: &Tensor,
    value: Scalar,
) -> Result<()> {
    let number = ready(&one(value, this.dtype())?)?;
    reduced(out, this, &repeated(&number, index)?, &CombineTarget::Index(plan.dim, index), plan.reduce, true)
}

#[op_impl(aten::scatter_add, CPU)]
fn scatter_add(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor, src: &Tensor) -> Result<()> {
    scattered(out, (*plan, ReductionType::Sum), [this, index, src], true)
}

#[op_impl(aten::scatter_reduce_two, CPU)]
fn scatter_reduce_two(plan: &ScatterReducePlan, out: &mut Tensor, _: ...) -> Result<()> {
    scattered(out, (plan.dim, plan.reduce), [this, index, src], include_self)
}

/// Returns a tensor without dimensions that holds one number.
pub(super) fn one(value: Scalar, dtype: DType) -> Result<Tensor> {
    let mut out = Spec::contiguous(dtype, &[]).on(Device::CPU)?;
    fill(&mut out, value)?;
    Ok(out)
}

/// Returns the dimensions of a copy from `source`: dimension `at` of the destination uses a table of `list`, the others its strides.
pub(super) fn rows(source: &Tensor, at: usize, list: &[i64], strides: &[i64]) -> Vec<Axis> {
    let axes = sizes_or_one(source).iter().enumerate().map(|(dim, &size)| {
        let from = Step::Stride(source.strides().get(dim).copied().unwrap_or(1));
        let stride = strides.get(dim).copied().unwrap_or(1);
        let to = if dim == at {
            Step::Table(list.iter().map(|position| position * stride).collect())
        } else {
            Step::Stride(stride)
        };
        Axis { size, to, from }
    });
    axes.collect()
}

pub(super) fn list_of(this: &Tensor, at: usize, index: &Tensor, negative: Negative) -> Result<Vec<i64>> {
    let mut list = positions(index)?;
    inside("index", &mut list, this.sizes().get(at).copied().unwrap_or(1), negative)?;
    Ok(list)
}
