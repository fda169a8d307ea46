//! CUDA kernels of `gather`, `index_select`, `take`, `index`, `index_put` and `put`.

use aten::{IndexPlan, ReductionType};

use super::index_add::{Rows, SortedRows};
use super::scatter::elements;
use super::scatter_target::ScatterTarget;
use crate::engine::data_movement::Side;
use crate::engine::gather::{List, Lists, Source, gathered};
use crate::engine::number::is_single;
use crate::prelude::*;

/// Describes a tensor through `rank` dimensions, with stride 0 along the dimension `except`.
pub(crate) fn side_without_dim(launch: Launch, tensor: &Tensor, rank: usize, except: Option<usize>) -> Result<Side> {
    let stride = |dim: usize| tensor.strides().get(dim).filter(|_| Some(dim) != except).copied().unwrap_or(0);
    Ok(Side { at: launch.place(tensor)?, steps: (0..rank).map(|dim| stride(dim) * element_size(tensor)).collect() })
}

/// Returns the size of a dimension and its stride in bytes. A tensor without dimensions has one of size one.
pub(crate) fn extent(tensor: &Tensor, dim: usize) -> (i64, i64) {
    let at = |all: &[i64]| all.get(dim).copied().unwrap_or(1);
    (at(tensor.sizes()), at(tensor.strides()) * element_size(tensor))
}

#[op_impl(aten::gather, CUDA)]
fn gather(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor) -> Result<()> {
    let (launch, sizes, at) = (Launch::on(out)?, out.sizes(), *plan);
    let lists = Lists::one(List::of(index, sizes, extent(this, at)), false, site!("aten::gather", "index"));
    let from = side_without_dim(launch, this, sizes.len(), Some(at))?;
    gathered(launch, this.dtype(), sizes, &Side::of(launch, out, sizes)?, &from, lists)
}

#[op_impl(aten::index_select, CUDA)]
fn index_select(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor) -> Result<()> {
    let (launch, sizes, at) = (Launch::on(out)?, out.sizes(), *plan);
    let list = List::along(index, sizes.len(), at, extent(this, at));
    let lists = Lists::one(list, false, site!("aten::index_select", "index"));
    let from = side_without_dim(launch, this, sizes.len(), Some(at))?;
    gathered(launch, this.dtype(), sizes, &Side::of(launch, out, sizes)?, &from, lists)
}

#[op_impl(aten::take, CUDA)]
fn take(_plan: &(), out: &mut Tensor, this: &Tensor, index: &Tensor) -> Result<()> {
    let (launch, row) = (Launch::on(out)?, contiguous(this, this.dtype())?);
    let (sizes, element) = (out.sizes(), element_size(this));
    let list = List::of(index, sizes, (row.geometry().count(), element));
    let from = Side { at: launch.place(&row)?, steps: Dims::from_elem(0, sizes.len()) };
    let lists = Lists::one(list, true, site!("aten::take", "index"));
    gathered(launch, this.dtype(), sizes, &Side::of(launch, out, sizes)?, &from, lists)
}

/// Returns `tensor`, which has the sizes of the indexed tensor, with strides through the sizes of the result, and the lists of the indices
/// into it.
pub(crate) fn indexed_sides(indexed: &IndexPlan, launch: Launch, tensor: &Tensor, site: Site) -> Result<(Side, Lists)> {
    let IndexPlan { sizes, index_sizes, index_dim: at, dims, indices } = indexed;
    let whole = (0..tensor.sizes().len()).filter(|dim| !dims.contains(dim));
    let mut steps: Dims = whole.map(|dim| tensor.strides()[dim] * element_size(tensor)).collect();
    steps.insert_many(*at, index_sizes.iter().map(|_| 0));
    let all = dims.iter().zip(indices).map(|(&dim, index)| {
        let index = to_device(index, tensor.device())?;
        // The result's dimensions behind those of the indices have stride 0 in the indices.
        let mut wide = Dims::from_slice(index.sizes());
        let mut strides = Dims::from_slice(index.strides());
        let behind = sizes.len() - at - index_sizes.len();
        wide.extend(std::iter::repeat_n(1, behind));
        strides.extend(std::iter::repeat_n(0, behind));
        let index = match Geometry::strided(&wide, &strides, index.geometry().offset()) {
            Some(geometry) => index.restride(geometry)?,
            None => index,
        };
        Ok(List::of(&index, sizes, extent(tensor, dim)))
    });
    let lists = Lists { all: all.collect::<Result<_>>()?, wraps: true, site };
    Ok((Side { at: launch.place(tensor)?, steps }, lists))
}

#[op_impl(aten::index, CUDA)]
fn index(plan: &IndexPlan, out: &mut Tensor, this: &Tensor) -> Result<()> {
    let (launch, sizes) = (Launch::on(out)?, &plan.sizes);
    let (from, lists) = indexed_sides(plan, launch, this, site!("aten::index.Tensor", "indices"))?;
    gathered(launch, this.dtype(), sizes, &Side::of(launch, out, sizes)?, &from, lists)
}

#[op_impl(aten::index_put, CUDA)]
fn index_put(plan: &IndexPlan, out: &mut Tensor, this: &Tensor, values: &Tensor, accumulate: bool) -> Result<()> {
    let (launch, sizes, site) = (Launch::on(this)?, &plan.sizes, site!("aten::index_put", "indices"));
    if accumulate {
        write(out, this)?;
        let (to, lists) = indexed_sides(plan, launch, out, site)?;
        return accumulated(launch, out, plan, &to, lists, values);
    }
    let source = if is_single(values) {
        Source::Number(values.to_scalar()?)
    } else {
        Source::Elements(Side::of(launch, values, sizes)?)
    };
    let lists = |launch, tensor: &Tensor| indexed_sides(plan, launch, tensor, site);
    ScatterTarget { launch, sizes, lists: &lists }.put(out, this, &source)
}

/// Adds `values` to the indexed elements of `out`. Values for the same element are added in order.
fn accumulated(
    launch: Launch,
    out: &Tensor,
    indexed: &IndexPlan,
    to: &Side,
    lists: Lists,
    values: &Tensor,
) -> Result<()> {
    let IndexPlan { sizes, index_sizes, index_dim: at, .. } = indexed;
    let among = |dim: &usize| (*at..at + index_sizes.len()).contains(dim);
    let positions: Dims = (0..sizes.len()).map(|dim| if among(&dim) { sizes[dim] } else { 1 }).collect();
    let element = element_size(out);
    // Positions are byte offsets, and all are inside of the tensor.
    let bytes = out.geometry().count().saturating_mul(element);
    let sorted = SortedRows::new(&lists.places(launch, &positions, bytes)?, bytes, -1)?;
    let mut all = Spec::contiguous(out.dtype(), sizes).on(out.device())?;
    write(&mut all, values)?;
    let rest = |steps: &[i64]| (0..sizes.len()).filter(|dim| !among(dim)).map(|dim| steps[dim]).collect::<Dims>();
    let strides: Dims = all.strides().iter().map(|stride| stride * element).collect();
    let width: i64 = sizes[at + index_sizes.len()..].iter().product();
    let from = Rows { at: launch.place(&all)?, step: width * element, steps: rest(&strides) };
    sorted.add(out.dtype(), &rest(sizes), &Rows { at: to.at, step: 1, steps: rest(&to.steps) }, &from, None, None)
}

#[op_impl(aten::put, CUDA)]
fn put_flat(_plan: &(), out: &mut Tensor, _: ...) -> Result<()> {
    let source = contiguous(source, source.dtype())?;
    let source = source.restride(Geometry::contiguous(index.sizes()).with_offset(source.geometry().offset()))?;
    let (sizes, site) = (index.sizes(), site!("aten::put", "index"));
    let lists = |launch: Launch, tensor: &Tensor| {
        let list = List::of(index, sizes, (tensor.geometry().count(), element_size(tensor)));
        let to = Side { at: launch.place(tensor)?, steps: Dims::from_elem(0, sizes.len()) };
        Ok((to, Lists::one(list, true, site)))
    };
    let target = ScatterTarget::of(this, sizes, &lists)?;
    let from = elements(&source, index)?;
    // `put` indexes elements in logical order, so the target must be contiguous.
    computed_contiguous(out, this.dtype(), |row| {
        if accumulate {
            target.combine(row, this, &from, source.dtype(), ReductionType::Sum, true)
        } else {
            target.put(row, this, &from)
        }
    })
}
