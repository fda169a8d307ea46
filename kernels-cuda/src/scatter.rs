//! Elements put where positions, or a view, say.

mod views;
mod way;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Geometry, Spec};

use crate::copying::{packed, write};
use crate::fault::Site;
use crate::index::{Indices, beside, extent};
use crate::launch::Launch;
use crate::meet::{Meeting, Rows};
use crate::moves::{Side, copied};
use crate::number::is_single;
use crate::picks::{List, Lists, Source, computed_in, site};
use way::{Reduce, Way};

/// Runs `f` with the way to where an index picks along a dimension.
fn indexed<R>(
    index: &Tensor,
    this: &Tensor,
    at: usize,
    site: Site,
    f: impl FnOnce(&Way<'_>) -> Result<R>,
) -> Result<R> {
    let (launch, sizes) = (Launch::on(this)?, index.sizes());
    let lists = |tensor: &Tensor| {
        let list = List::of(index, sizes, extent(tensor, at));
        Ok((beside(launch, tensor, sizes.len(), Some(at))?, Lists::one(list, false, site)))
    };
    f(&Way { launch, sizes, lists: &lists })
}

/// Elements of a tensor that is no smaller than the index.
fn elements(src: &Tensor, index: &Tensor) -> Result<Source> {
    Ok(Source::Elements(beside(Launch::on(src)?, src, index.sizes().len(), None)?))
}

#[op_impl(aten::scatter_src, CUDA)]
fn scatter_src(this: &Tensor, dim: i64, index: &Tensor, src: &Tensor) -> Result<Tensor> {
    let (spec, at) = aten::scatter_spec(this, dim, index, Some(src))?;
    let source = elements(src, index)?;
    indexed(index, this, at, site!("aten::scatter.src", "index"), |way| way.put(this, &source, spec))
}

#[op_impl(aten::scatter_value, CUDA)]
fn scatter_value(this: &Tensor, dim: i64, index: &Tensor, value: Scalar) -> Result<Tensor> {
    let (spec, at) = aten::scatter_spec(this, dim, index, None)?;
    aten::check_scattered(this, index, value)?;
    let site = site!("aten::scatter.value", "index");
    indexed(index, this, at, site, |way| way.put(this, &Source::Number(value), spec))
}

fn scattered(
    this: &Tensor,
    dim: i64,
    index: &Tensor,
    src: &Tensor,
    (how, include): (Reduce, bool),
    site: Site,
) -> Result<Tensor> {
    let (spec, at) = aten::scatter_spec(this, dim, index, Some(src))?;
    let source = elements(src, index)?;
    indexed(index, this, at, site, |way| way.combine(this, &source, src.dtype(), how, include, spec))
}

/// Refuses all but the two words of [`aten::scatter_reduce`].
fn add_or_multiply(word: &str) -> Result<Reduce, BadArgument> {
    match word {
        "add" | "multiply" => Reduce::parse(word),
        _ => Err(BadArgument::value("reduce", word, "`add` or `multiply`")),
    }
}

#[op_impl(aten::scatter_reduce, CUDA)]
fn scatter_reduce(this: &Tensor, dim: i64, index: &Tensor, src: &Tensor, reduce: &str) -> Result<Tensor> {
    let how = (add_or_multiply(reduce)?, true);
    scattered(this, dim, index, src, how, site!("aten::scatter.reduce", "index"))
}

#[op_impl(aten::scatter_value_reduce, CUDA)]
fn scatter_value_reduce(this: &Tensor, dim: i64, index: &Tensor, value: Scalar, reduce: &str) -> Result<Tensor> {
    let how = add_or_multiply(reduce)?;
    let (spec, at) = aten::scatter_spec(this, dim, index, None)?;
    aten::check_scattered(this, index, value)?;
    let source = Source::Number(aten::number_in(this.dtype(), value));
    indexed(index, this, at, site!("aten::scatter.value_reduce", "index"), |way| {
        way.combine(this, &source, this.dtype(), how, true, spec)
    })
}

#[op_impl(aten::scatter_add, CUDA)]
fn scatter_add(this: &Tensor, dim: i64, index: &Tensor, src: &Tensor) -> Result<Tensor> {
    scattered(this, dim, index, src, (Reduce::SUM, true), site!("aten::scatter_add", "index"))
}

#[op_impl(aten::scatter_reduce_two, CUDA)]
fn scatter_reduce_two(
    this: &Tensor,
    dim: i64,
    index: &Tensor,
    src: &Tensor,
    reduce: &str,
    include_self: bool,
) -> Result<Tensor> {
    let how = (Reduce::parse(reduce)?, include_self);
    scattered(this, dim, index, src, how, site!("aten::scatter_reduce.two", "index"))
}

/// Runs `f` with the way to the rows that a list names.
fn listed<R>(
    index: &Tensor,
    sizes: &[i64],
    this: &Tensor,
    at: usize,
    (wraps, site): (bool, Site),
    f: impl FnOnce(&Way<'_>) -> Result<R>,
) -> Result<R> {
    let launch = Launch::on(this)?;
    let lists = |tensor: &Tensor| {
        let list = List::along(index, sizes.len(), at, extent(tensor, at));
        Ok((beside(launch, tensor, sizes.len(), Some(at))?, Lists::one(list, wraps, site)))
    };
    f(&Way { launch, sizes, lists: &lists })
}

#[op_impl(aten::index_copy, CUDA)]
fn index_copy(this: &Tensor, dim: i64, index: &Tensor, source: &Tensor) -> Result<Tensor> {
    let (spec, at) = aten::index_from_spec(this, dim, index, source)?;
    let from = elements(source, source)?;
    let said = (false, site!("aten::index_copy", "index"));
    listed(index, source.sizes(), this, at, said, |way| way.put(this, &from, spec))
}

#[op_impl(aten::index_add, CUDA)]
fn index_add(this: &Tensor, dim: i64, index: &Tensor, source: &Tensor, alpha: Scalar) -> Result<Tensor> {
    let (spec, at) = aten::index_from_spec(this, dim, index, source)?;
    alpha.check_fits("alpha", this.dtype())?;
    let alpha = aten::number_in(this.dtype(), alpha);
    let scaled = if alpha == Scalar::Int(1) {
        source.clone()
    } else {
        aten::mul(&crate::copying::copied(source, computed_in(source.dtype()))?, &Tensor::number(alpha))?
    };
    let from = elements(&scaled, &scaled)?;
    listed(index, source.sizes(), this, at, (false, site!("aten::index_add", "index")), |way| {
        way.combine(this, &from, scaled.dtype(), Reduce::SUM, true, spec)
    })
}

#[op_impl(aten::index_reduce, CUDA)]
fn index_reduce(
    this: &Tensor,
    dim: i64,
    index: &Tensor,
    source: &Tensor,
    reduce: &str,
    include_self: bool,
) -> Result<Tensor> {
    aten::check_index_reduce(reduce)?;
    let (spec, at) = aten::index_from_spec(this, dim, index, source)?;
    let (how, from) = (Reduce::parse(reduce)?, elements(source, source)?);
    listed(index, source.sizes(), this, at, (false, site!("aten::index_reduce", "index")), |way| {
        way.combine(this, &from, source.dtype(), how, include_self, spec)
    })
}

fn filled(this: &Tensor, dim: i64, index: &Tensor, value: Scalar) -> Result<Tensor> {
    let (spec, at) = aten::index_fill_spec(this, dim, index)?;
    aten::check_index_fill(this, value)?;
    let mut sizes = Dims::from_slice(this.sizes());
    if let Some(size) = sizes.get_mut(at) {
        *size = index.geometry().count();
    }
    let said = (true, site!("aten::index_fill", "index"));
    listed(index, &sizes, this, at, said, |way| way.put(this, &Source::Number(value), spec))
}

#[op_impl(aten::index_fill_int_scalar, CUDA)]
fn index_fill_int_scalar(this: &Tensor, dim: i64, index: &Tensor, value: Scalar) -> Result<Tensor> {
    filled(this, dim, index, value)
}

#[op_impl(aten::index_fill_int_tensor, CUDA)]
fn index_fill_int_tensor(this: &Tensor, dim: i64, index: &Tensor, value: &Tensor) -> Result<Tensor> {
    aten::one("value", value)?;
    filled(this, dim, index, if is_single(value) { aten::number_of(value)? } else { aten::_local_scalar_dense(value)? })
}

#[op_impl(aten::index_put, CUDA)]
fn index_put(this: &Tensor, indices: &[Option<Tensor>], values: &Tensor, accumulate: bool) -> Result<Tensor> {
    aten::check_values(this, values)?;
    let indices = Indices::of(this, indices)?;
    let sizes = &indices.indexed.sizes;
    aten::check_broadcasts("values", values, sizes)?;
    let (spec, site) = (Spec::pointwise(&[this], this.dtype())?, site!("aten::index_put", "indices"));
    let launch = Launch::on(this)?;
    if accumulate {
        let out = copied(this, spec)?;
        let (to, lists) = indices.through(launch, &out, site)?;
        accumulated(launch, &out, &indices.indexed, &to, lists, values)?;
        return Ok(out);
    }
    let source = if is_single(values) {
        Source::Number(aten::number_of(values)?)
    } else {
        Source::Elements(Side::of(launch, values, sizes)?)
    };
    let lists = |tensor: &Tensor| indices.through(launch, tensor, site);
    Way { launch, sizes, lists: &lists }.put(this, &source, spec)
}

/// Adds what every position has, in order where positions are the same.
fn accumulated(
    launch: Launch,
    out: &Tensor,
    indexed: &aten::Indexed,
    to: &Side,
    lists: Lists,
    values: &Tensor,
) -> Result<()> {
    let aten::Indexed { sizes, index_sizes, at, .. } = indexed;
    let among = |dim: &usize| (*at..at + index_sizes.len()).contains(dim);
    let positions: Dims = (0..sizes.len()).map(|dim| if among(&dim) { sizes[dim] } else { 1 }).collect();
    let element = i64::try_from(out.dtype().size()).unwrap_or(1);
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
fn put_flat(this: &Tensor, index: &Tensor, source: &Tensor, accumulate: bool) -> Result<Tensor> {
    let spec = aten::put_spec(this, index, source)?;
    let source = packed(source, source.dtype())?;
    let source = source.restride(Geometry::contiguous(index.sizes()).at(source.geometry().offset()))?;
    let (launch, sizes, site) = (Launch::on(this)?, index.sizes(), site!("aten::put", "index"));
    let lists = |tensor: &Tensor| {
        let element = i64::try_from(tensor.dtype().size()).unwrap_or(1);
        let list = List::of(index, sizes, (tensor.geometry().count(), element));
        let to = Side { at: launch.place(tensor)?, steps: Dims::from_elem(0, sizes.len()) };
        Ok((to, Lists::one(list, true, site)))
    };
    let way = Way { launch, sizes, lists: &lists };
    let (from, row) = (elements(&source, index)?, Spec::contiguous(this.dtype(), this.sizes()));
    let row = if accumulate {
        way.combine(this, &from, source.dtype(), Reduce::SUM, true, row)?
    } else {
        way.put(this, &from, row)?
    };
    if row.strides() == spec.geometry.strides() { Ok(row) } else { copied(&row, spec) }
}
