//! Elements put where positions say.

use aten::{AddAt, Indexed, Reduce, ReduceAt};

use super::scatter_target::Way;
use crate::engine::data_movement::Side;
use crate::engine::gather::{List, Lists, Source, computed_in};
use crate::engine::number::is_single;
use crate::families::indexing::index::{beside, extent, through};
use crate::families::indexing::index_add::{Meeting, Rows};
use crate::prelude::*;

/// Says where in a tensor an index leads along a dimension.
fn indexed(index: &Tensor, at: usize, site: Site) -> impl Fn(Launch, &Tensor) -> Result<(Side, Lists)> {
    move |launch, tensor| {
        let list = List::of(index, index.sizes(), extent(tensor, at));
        Ok((beside(launch, tensor, index.sizes().len(), Some(at))?, Lists::one(list, false, site)))
    }
}

/// Elements of a tensor that is no smaller than the index.
fn elements(src: &Tensor, index: &Tensor) -> Result<Source> {
    Ok(Source::Elements(beside(Launch::on(src)?, src, index.sizes().len(), None)?))
}

#[op_impl(aten::scatter_src, CUDA)]
fn scatter_src(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor, src: &Tensor) -> Result<()> {
    let lists = indexed(index, *plan, site!("aten::scatter.src", "index"));
    Way::of(this, index.sizes(), &lists)?.put(out, this, &elements(src, index)?)
}

#[op_impl(aten::scatter_value, CUDA)]
fn scatter_value(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor, value: Scalar) -> Result<()> {
    let lists = indexed(index, *plan, site!("aten::scatter.value", "index"));
    Way::of(this, index.sizes(), &lists)?.put(out, this, &Source::Number(value))
}

fn scattered(
    out: &mut Tensor,
    [this, index, src]: [&Tensor; 3],
    at: usize,
    (how, include): (Reduce, bool),
    site: Site,
) -> Result<()> {
    let source = elements(src, index)?;
    Way::of(this, index.sizes(), &indexed(index, at, site))?.combine(out, this, &source, src.dtype(), how, include)
}

#[op_impl(aten::scatter_reduce, CUDA)]
fn scatter_reduce(plan: &ReduceAt, out: &mut Tensor, this: &Tensor, index: &Tensor, src: &Tensor) -> Result<()> {
    scattered(out, [this, index, src], plan.dim, (plan.reduce, true), site!("aten::scatter.reduce", "index"))
}

#[op_impl(aten::scatter_value_reduce, CUDA)]
fn scatter_value_reduce(plan: &ReduceAt, out: &mut Tensor, this: &Tensor, index: &Tensor, value: Scalar) -> Result<()> {
    let source = Source::Number(value.cast(this.dtype()));
    let lists = indexed(index, plan.dim, site!("aten::scatter.value_reduce", "index"));
    Way::of(this, index.sizes(), &lists)?.combine(out, this, &source, this.dtype(), plan.reduce, true)
}

#[op_impl(aten::scatter_add, CUDA)]
fn scatter_add(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor, src: &Tensor) -> Result<()> {
    scattered(out, [this, index, src], *plan, (Reduce::Sum, true), site!("aten::scatter_add", "index"))
}

#[op_impl(aten::scatter_reduce_two, CUDA)]
fn scatter_reduce_two(plan: &ReduceAt, out: &mut Tensor, _: ...) -> Result<()> {
    let how = (plan.reduce, include_self);
    scattered(out, [this, index, src], plan.dim, how, site!("aten::scatter_reduce.two", "index"))
}

/// Says where in a tensor of so many dimensions the rows are that a list names.
fn listed(
    index: &Tensor,
    rank: usize,
    at: usize,
    (wraps, site): (bool, Site),
) -> impl Fn(Launch, &Tensor) -> Result<(Side, Lists)> {
    move |launch, tensor| {
        let list = List::along(index, rank, at, extent(tensor, at));
        Ok((beside(launch, tensor, rank, Some(at))?, Lists::one(list, wraps, site)))
    }
}

#[op_impl(aten::index_copy, CUDA)]
fn index_copy(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor, source: &Tensor) -> Result<()> {
    let lists = listed(index, source.sizes().len(), *plan, (false, site!("aten::index_copy", "index")));
    Way::of(this, source.sizes(), &lists)?.put(out, this, &elements(source, source)?)
}

#[op_impl(aten::index_add, CUDA)]
fn index_add(plan: &AddAt, out: &mut Tensor, this: &Tensor, index: &Tensor, source: &Tensor) -> Result<()> {
    let scaled = if plan.alpha == Scalar::Int(1) {
        source.clone()
    } else {
        aten::mul(&crate::engine::transfer::copied(source, computed_in(source.dtype()))?, &Tensor::number(plan.alpha))?
    };
    let from = elements(&scaled, &scaled)?;
    let lists = listed(index, source.sizes().len(), plan.dim, (false, site!("aten::index_add", "index")));
    Way::of(this, source.sizes(), &lists)?.combine(out, this, &from, scaled.dtype(), Reduce::Sum, true)
}

#[op_impl(aten::index_reduce, CUDA)]
fn index_reduce(plan: &ReduceAt, out: &mut Tensor, _: ...) -> Result<()> {
    let from = elements(source, source)?;
    let lists = listed(index, source.sizes().len(), plan.dim, (false, site!("aten::index_reduce", "index")));
    Way::of(this, source.sizes(), &lists)?.combine(out, this, &from, source.dtype(), plan.reduce, include_self)
}

#[op_impl(aten::index_fill_int_scalar, CUDA)]
fn index_fill(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor, value: Scalar) -> Result<()> {
    let mut sizes = Dims::from_slice(this.sizes());
    if let Some(size) = sizes.get_mut(*plan) {
        *size = index.geometry().count();
    }
    let lists = listed(index, sizes.len(), *plan, (true, site!("aten::index_fill", "index")));
    Way::of(this, &sizes, &lists)?.put(out, this, &Source::Number(value))
}

#[op_impl(aten::index_put, CUDA)]
fn index_put(plan: &Indexed, out: &mut Tensor, this: &Tensor, values: &Tensor, accumulate: bool) -> Result<()> {
    let (launch, sizes, site) = (Launch::on(this)?, &plan.sizes, site!("aten::index_put", "indices"));
    if accumulate {
        write(out, this)?;
        let (to, lists) = through(plan, launch, out, site)?;
        return accumulated(launch, out, plan, &to, lists, values);
    }
    let source = if is_single(values) {
        Source::Number(values.to_scalar()?)
    } else {
        Source::Elements(Side::of(launch, values, sizes)?)
    };
    let lists = |launch, tensor: &Tensor| through(plan, launch, tensor, site);
    Way { launch, sizes, lists: &lists }.put(out, this, &source)
}

/// Adds what every position has, in order where positions are the same.
fn accumulated(
    launch: Launch,
    out: &Tensor,
    indexed: &Indexed,
    to: &Side,
    lists: Lists,
    values: &Tensor,
) -> Result<()> {
    let Indexed { sizes, index_sizes, at, .. } = indexed;
    let among = |dim: &usize| (*at..at + index_sizes.len()).contains(dim);
    let positions: Dims = (0..sizes.len()).map(|dim| if among(&dim) { sizes[dim] } else { 1 }).collect();
    let element = element_size(out);
    // Places are counted in bytes, and all are inside of the tensor's own.
    let bytes = out.geometry().count().saturating_mul(element);
    let meeting = Meeting::new(&lists.places(launch, &positions, bytes)?, bytes, -1)?;
    let mut all = Spec::contiguous(out.dtype(), sizes).on(out.device())?;
    write(&mut all, values)?;
    let rest = |steps: &[i64]| (0..sizes.len()).filter(|dim| !among(dim)).map(|dim| steps[dim]).collect::<Dims>();
    let strides: Dims = all.strides().iter().map(|stride| stride * element).collect();
    let width: i64 = sizes[at + index_sizes.len()..].iter().product();
    let from = Rows { at: launch.place(&all)?, step: width * element, steps: rest(&strides) };
    meeting.add(out.dtype(), &rest(sizes), &Rows { at: to.at, step: 1, steps: rest(&to.steps) }, &from, None, None)
}

#[op_impl(aten::put, CUDA)]
fn put_flat(_plan: &(), out: &mut Tensor, _: ...) -> Result<()> {
    let source = packed(source, source.dtype())?;
    let source = source.restride(Geometry::contiguous(index.sizes()).at(source.geometry().offset()))?;
    let (sizes, site) = (index.sizes(), site!("aten::put", "index"));
    let lists = |launch: Launch, tensor: &Tensor| {
        let list = List::of(index, sizes, (tensor.geometry().count(), element_size(tensor)));
        let to = Side { at: launch.place(tensor)?, steps: Dims::from_elem(0, sizes.len()) };
        Ok((to, Lists::one(list, true, site)))
    };
    let way = Way::of(this, sizes, &lists)?;
    let from = elements(&source, index)?;
    // Positions count elements side by side.
    computed_contiguous(out, this.dtype(), |row| {
        if accumulate {
            way.combine(row, this, &from, source.dtype(), Reduce::Sum, true)
        } else {
            way.put(row, this, &from)
        }
    })
}
