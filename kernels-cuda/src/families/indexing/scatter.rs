//! CUDA kernels of `scatter`, `scatter_add` and `scatter_reduce`.

use aten::{ReductionType, ScatterReducePlan};

use super::scatter_target::ScatterTarget;
use crate::engine::data_movement::Side;
use crate::engine::gather::{List, Lists, Source};
use crate::families::indexing::index::{extent, side_without_dim};
use crate::prelude::*;

/// Returns a function that finds the indexed positions in a tensor, along one dimension.
fn indexed(index: &Tensor, at: usize, site: Site) -> impl Fn(Launch, &Tensor) -> Result<(Side, Lists)> {
    move |launch, tensor| {
        let list = List::of(index, index.sizes(), extent(tensor, at));
        Ok((side_without_dim(launch, tensor, index.sizes().len(), Some(at))?, Lists::one(list, false, site)))
    }
}

/// Returns the elements of `src`, which is at least as large as the index, as the source of a scatter.
pub(super) fn elements(src: &Tensor, index: &Tensor) -> Result<Source> {
    Ok(Source::Elements(side_without_dim(Launch::on(src)?, src, index.sizes().len(), None)?))
}

#[op_impl(aten::scatter_src, CUDA)]
fn scatter_src(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor, src: &Tensor) -> Result<()> {
    let lists = indexed(index, *plan, site!("aten::scatter.src", "index"));
    ScatterTarget::of(this, index.sizes(), &lists)?.put(out, this, &elements(src, index)?)
}

#[op_impl(aten::scatter_value, CUDA)]
fn scatter_value(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor, value: Scalar) -> Result<()> {
    let lists = indexed(index, *plan, site!("aten::scatter.value", "index"));
    ScatterTarget::of(this, index.sizes(), &lists)?.put(out, this, &Source::Number(value))
}

fn scattered(
    out: &mut Tensor,
    [this, index, src]: [&Tensor; 3],
    at: usize,
    (how, include): (ReductionType, bool),
    site: Site,
) -> Result<()> {
    let source = elements(src, index)?;
    ScatterTarget::of(this, index.sizes(), &indexed(index, at, site))?.combine(
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
    scattered(out, [this, index, src], plan.dim, (plan.reduce, true), site!("aten::scatter.reduce", "index"))
}

#[op_impl(aten::scatter_value_reduce, CUDA)]
fn scatter_value_reduce(
    plan: &ScatterReducePlan,
    out: &mut Tensor,
    this: &Tensor,
    index: &Tensor,
    value: Scalar,
) -> Result<()> {
    let source = Source::Number(value.cast(this.dtype()));
    let lists = indexed(index, plan.dim, site!("aten::scatter.value_reduce", "index"));
    ScatterTarget::of(this, index.sizes(), &lists)?.combine(out, this, &source, this.dtype(), plan.reduce, true)
}

#[op_impl(aten::scatter_add, CUDA)]
fn scatter_add(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor, src: &Tensor) -> Result<()> {
    scattered(out, [this, index, src], *plan, (ReductionType::Sum, true), site!("aten::scatter_add", "index"))
}

#[op_impl(aten::scatter_reduce_two, CUDA)]
fn scatter_reduce_two(plan: &ScatterReducePlan, out: &mut Tensor, _: ...) -> Result<()> {
    let how = (plan.reduce, include_self);
    scattered(out, [this, index, src], plan.dim, how, site!("aten::scatter_reduce.two", "index"))
}
