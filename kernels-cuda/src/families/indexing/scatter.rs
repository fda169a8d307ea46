//! CUDA kernels of `scatter`, `scatter_add` and `scatter_reduce`.

use aten::{ReductionType, ScatterReducePlan};

use super::scatter_target::ScatterTarget;
use crate::engine::data_movement::StridedPointer;
use crate::engine::gather::{IndexList, IndexLists, ScatterSource};
use crate::families::indexing::index::{dim_size_and_stride, pointer_without_dim};
use crate::prelude::*;

/// Returns a function that describes the positions of a tensor that an index selects along dimension `at`.
fn index_lists_along(
    index: &Tensor,
    at: usize,
    site: FaultSite,
) -> impl Fn(Launch, &Tensor) -> Result<(StridedPointer, IndexLists)> {
    move |launch, tensor| {
        let list = IndexList::of(index, index.sizes(), dim_size_and_stride(tensor, at));
        Ok((pointer_without_dim(launch, tensor, index.sizes().len(), Some(at))?, IndexLists::single(list, false, site)))
    }
}

/// Returns the elements of `src`, which is at least as large as the index, as the source of a scatter.
pub(super) fn source_elements(src: &Tensor, index: &Tensor) -> Result<ScatterSource> {
    Ok(ScatterSource::Elements(pointer_without_dim(Launch::on(src)?, src, index.sizes().len(), None)?))
}

#[op_impl(aten::scatter_src, CUDA)]
fn scatter_src(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor, src: &Tensor) -> Result<()> {
    let lists = index_lists_along(index, *plan, site!("aten::scatter.src", "index"));
    ScatterTarget::of(this, index.sizes(), &lists)?.scatter(out, this, &source_elements(src, index)?)
}

#[op_impl(aten::scatter_value, CUDA)]
fn scatter_value(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor, value: Scalar) -> Result<()> {
    let lists = index_lists_along(index, *plan, site!("aten::scatter.value", "index"));
    ScatterTarget::of(this, index.sizes(), &lists)?.scatter(out, this, &ScatterSource::Scalar(value))
}

fn scatter_reduce_tensor(
    out: &mut Tensor,
    [this, index, src]: [&Tensor; 3],
    at: usize,
    (how, include): (ReductionType, bool),
    site: FaultSite,
) -> Result<()> {
    let source = source_elements(src, index)?;
    ScatterTarget::of(this, index.sizes(), &index_lists_along(index, at, site))?.combine(
        out,
        this,
        &source,
        src.dtype(),
        how,
        include,
    )
}

#[op_impl(aten::scatter_reduce, CUDA)]
fn scatter_reduce(
    plan: &ScatterReducePlan,
    out: &mut Tensor,
    this: &Tensor,
    index: &Tensor,
    src: &Tensor,
) -> Result<()> {
    scatter_reduce_tensor(
        out,
        [this, index, src],
        plan.dim,
        (plan.reduce, true),
        site!("aten::scatter.reduce", "index"),
    )
}

#[op_impl(aten::scatter_value_reduce, CUDA)]
fn scatter_value_reduce(
    plan: &ScatterReducePlan,
    out: &mut Tensor,
    this: &Tensor,
    index: &Tensor,
    value: Scalar,
) -> Result<()> {
    let source = ScatterSource::Scalar(value.cast(this.dtype()));
    let lists = index_lists_along(index, plan.dim, site!("aten::scatter.value_reduce", "index"));
    ScatterTarget::of(this, index.sizes(), &lists)?.combine(out, this, &source, this.dtype(), plan.reduce, true)
}

#[op_impl(aten::scatter_add, CUDA)]
fn scatter_add(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor, src: &Tensor) -> Result<()> {
    scatter_reduce_tensor(
        out,
        [this, index, src],
        *plan,
        (ReductionType::Sum, true),
        site!("aten::scatter_add", "index"),
    )
}

#[op_impl(aten::scatter_reduce_two, CUDA)]
fn scatter_reduce_two(plan: &ScatterReducePlan, out: &mut Tensor, _: ...) -> Result<()> {
    let how = (plan.reduce, include_self);
    scatter_reduce_tensor(out, [this, index, src], plan.dim, how, site!("aten::scatter_reduce.two", "index"))
}
