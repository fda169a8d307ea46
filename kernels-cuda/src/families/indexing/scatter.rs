//! CUDA kernels of `scatter`, `scatter_add` and `scatter_reduce`.

use aten::{ReductionType, ScatterReducePlan};

use super::scatter_target::ScatterTarget;
use crate::engine::data_movement::StridedPointer;
use crate::engine::gather::{IndexList, IndexLists, ScatterSource};
use crate::families::indexing::index::{dim_size_and_byte_stride, strided_pointer_except_dim};
use crate::prelude::*;

/// Returns a function that describes the positions of a tensor that an index selects along dimension `at`.
fn element_finder_along(
    index: &Tensor,
    at: usize,
    site: FaultSite,
) -> impl Fn(Launch, &Tensor) -> Result<(StridedPointer, IndexLists)> {
    move |launch, tensor| {
        let list = IndexList::from_tensor(index, index.sizes(), dim_size_and_byte_stride(tensor, at));
        Ok((
            strided_pointer_except_dim(launch, tensor, index.sizes().len(), Some(at))?,
            IndexLists::from_list(list, false, site),
        ))
    }
}

/// Returns the elements of `src`, which is at least as large as the index, as the source of a scatter.
pub(super) fn source_elements(src: &Tensor, index: &Tensor) -> Result<ScatterSource> {
    Ok(ScatterSource::Elements(strided_pointer_except_dim(Launch::on_device_of(src)?, src, index.sizes().len(), None)?))
}

#[op_impl(aten::scatter_src, CUDA)]
fn scatter_src(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor, src: &Tensor) -> Result<()> {
    let lists = element_finder_along(index, *plan, fault_site!("aten::scatter.src", "index"));
    ScatterTarget::for_tensor(this, index.sizes(), &lists)?.scatter(out, this, &source_elements(src, index)?)
}

#[op_impl(aten::scatter_value, CUDA)]
fn scatter_value(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor, value: Scalar) -> Result<()> {
    let lists = element_finder_along(index, *plan, fault_site!("aten::scatter.value", "index"));
    ScatterTarget::for_tensor(this, index.sizes(), &lists)?.scatter(out, this, &ScatterSource::Scalar(value))
}

fn scatter_combine(
    out: &mut Tensor,
    [this, index, src]: [&Tensor; 3],
    at: usize,
    (how, include): (ReductionType, bool),
    site: FaultSite,
) -> Result<()> {
    let source = source_elements(src, index)?;
    ScatterTarget::for_tensor(this, index.sizes(), &element_finder_along(index, at, site))?.combine(
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
    scatter_combine(
        out,
        [this, index, src],
        plan.dim,
        (plan.reduce, true),
        fault_site!("aten::scatter.reduce", "index"),
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
    let lists = element_finder_along(index, plan.dim, fault_site!("aten::scatter.value_reduce", "index"));
    ScatterTarget::for_tensor(this, index.sizes(), &lists)?.combine(out, this, &source, this.dtype(), plan.reduce, true)
}

#[op_impl(aten::scatter_add, CUDA)]
fn scatter_add(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor, src: &Tensor) -> Result<()> {
    scatter_combine(
        out,
        [this, index, src],
        *plan,
        (ReductionType::Sum, true),
        fault_site!("aten::scatter_add", "index"),
    )
}

#[op_impl(aten::scatter_reduce_two, CUDA)]
fn scatter_reduce_two(plan: &ScatterReducePlan, out: &mut Tensor, _: ...) -> Result<()> {
    let how = (plan.reduce, include_self);
    scatter_combine(out, [this, index, src], plan.dim, how, fault_site!("aten::scatter_reduce.two", "index"))
}
