//! Views of a part of a tensor, and of the parts that it falls into.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Problem, reduced_dims, wrap_dim};

use crate::restrided;
use crate::room;

/// The elements at one position of a dimension, which is gone.
#[op_def("select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn select_int(this: &Tensor, dim: i64, index: i64) -> Result<Tensor> {
    selected(this, dim, index)
}

fn selected(this: &Tensor, dim: i64, index: i64) -> Result<Tensor> {
    let (at, size) = sized("self", this, dim)?;
    let wrapped = if index < 0 { index.saturating_add(size) } else { index };
    if !(0..size).contains(&wrapped) {
        return Err(BadArgument::new("index", Problem::Index { index, size }).into());
    }
    let (mut sizes, mut strides) = (Dims::from_slice(this.sizes()), Dims::from_slice(this.strides()));
    sizes.remove(at);
    let stride = strides.remove(at);
    restrided(this, &sizes, &strides, this.geometry().offset().saturating_add(wrapped.saturating_mul(stride)))
}

/// The dimension that `dim` names, and its size.
fn sized(argument: &'static str, this: &Tensor, dim: i64) -> Result<(usize, i64), BadArgument> {
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    let size = this.sizes().get(at).copied();
    size.map(|size| (at, size)).ok_or_else(|| BadArgument::rank(argument, 0, 1..))
}

/// Every `step`th position of a dimension, from `start` up to but not `end`.
#[op_def(
    "slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)",
    body = CompositeExplicitAutograd
)]
pub fn slice(this: &Tensor, dim: i64, start: Option<i64>, end: Option<i64>, step: i64) -> Result<Tensor> {
    sliced(this, dim, start.unwrap_or(0), end.unwrap_or(i64::MAX), step)
}

fn sliced(this: &Tensor, dim: i64, start: i64, end: i64, step: i64) -> Result<Tensor> {
    let (at, size) = sized("self", this, dim)?;
    if step <= 0 {
        return Err(BadArgument::number("step", step, 1..).into());
    }
    let wrap = |place: i64| if place < 0 { place.saturating_add(size) } else { place };
    let start = wrap(start).clamp(0, size);
    let end = wrap(end).clamp(start, size);
    let (mut sizes, mut strides) = (Dims::from_slice(this.sizes()), Dims::from_slice(this.strides()));
    let offset = this.geometry().offset().saturating_add(start.saturating_mul(strides[at]));
    sizes[at] = (end - start) / step + i64::from((end - start) % step != 0);
    strides[at] = strides[at].saturating_mul(step);
    restrided(this, &sizes, &strides, offset)
}

/// A run of positions of a dimension.
#[op_def("narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)")]
pub fn narrow(this: &Tensor, dim: i64, start: i64, length: i64) -> Result<Tensor> {
    let (_, size) = sized("self", this, dim)?;
    if length < 0 {
        return Err(BadArgument::number("length", length, 0..).into());
    }
    let wrapped = if start < 0 { start.saturating_add(size) } else { start };
    if !(0..=size).contains(&wrapped) {
        return Err(BadArgument::new("start", Problem::Index { index: start, size }).into());
    }
    if length > size - wrapped {
        return Err(BadArgument::number("length", length, ..=size - wrapped)
            .because("no more is left of the dimension")
            .into());
    }
    slice(this, dim, Some(wrapped), Some(wrapped + length), 1)
}

/// The same elements without the dimensions of size 1.
#[op_def("squeeze(Tensor(a) self) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn squeeze(_: ...) -> Result<Tensor> {
    squeezed(this, |_| true)
}

fn squeezed(this: &Tensor, listed: impl Fn(usize) -> bool) -> Result<Tensor> {
    let kept = (0..this.sizes().len()).filter(|&dim| this.sizes()[dim] != 1 || !listed(dim));
    let (sizes, strides): (Dims, Dims) = kept.map(|dim| (this.sizes()[dim], this.strides()[dim])).unzip();
    restrided(this, &sizes, &strides, this.geometry().offset())
}

/// The same elements without this dimension, if it is of size 1.
#[op_def("squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn squeeze_dim(this: &Tensor, dim: i64) -> Result<Tensor> {
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    squeezed(this, |dim| dim == at)
}

/// The same elements without those of these dimensions that are of size 1.
#[op_def("squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn squeeze_dims(this: &Tensor, dim: &[i64]) -> Result<Tensor> {
    squeezed_dims(this, dim)
}

fn squeezed_dims(this: &Tensor, dims: &[i64]) -> Result<Tensor> {
    // No dimension listed means none here, though it means all where dimensions are reduced.
    let rank = this.sizes().len();
    if rank == 0 {
        dims.iter().try_for_each(|&dim| wrap_dim("dim", dim, rank).map(drop))?;
    }
    let listed =
        if dims.is_empty() || rank == 0 { vec![false; rank] } else { reduced_dims(rank, dims, "dim")?.to_vec() };
    squeezed(this, |dim| listed[dim])
}

/// The same elements with one more dimension of size 1.
#[op_def("unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn unsqueeze(this: &Tensor, dim: i64) -> Result<Tensor> {
    unsqueezed(this, dim)
}

fn unsqueezed(this: &Tensor, dim: i64) -> Result<Tensor> {
    let at = wrap_dim("dim", dim, this.sizes().len() + 1)?;
    let (mut sizes, mut strides) = (Dims::from_slice(this.sizes()), Dims::from_slice(this.strides()));
    let stride = sizes.get(at).map_or(1, |size| size.saturating_mul(strides[at]));
    sizes.insert(at, 1);
    strides.insert(at, stride);
    restrided(this, &sizes, &strides, this.geometry().offset())
}

/// The elements whose positions in two dimensions are `offset` apart; the dimension along them is the last.
#[op_def(
    "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
    body = CompositeExplicitAutograd
)]
pub fn diagonal(this: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
    let rank = this.sizes().len();
    let (a, b) = (wrap_dim("dim1", dim1, rank)?, wrap_dim("dim2", dim2, rank)?);
    if a == b {
        return Err(BadArgument::new("dim2", Problem::RepeatedDim { dim: dim2 }).into());
    }
    let (mut sizes, mut strides) = (Dims::from_slice(this.sizes()), Dims::from_slice(this.strides()));
    let down = offset.saturating_neg().max(0);
    let right = offset.max(0);
    let length = sizes[a].saturating_sub(down).min(sizes[b].saturating_sub(right)).max(0);
    let mut start = this.geometry().offset();
    if length > 0 {
        start = start.saturating_add(down.saturating_mul(strides[a])).saturating_add(right.saturating_mul(strides[b]));
    }
    let stride = strides[a].saturating_add(strides[b]);
    for dim in [a.max(b), a.min(b)] {
        sizes.remove(dim);
        strides.remove(dim);
    }
    sizes.push(length);
    strides.push(stride);
    restrided(this, &sizes, &strides, start)
}

/// Every run of `size` positions of a dimension, `step` apart; the dimension along a run is the last.
#[op_def("unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn unfold(this: &Tensor, dimension: i64, size: i64, step: i64) -> Result<Tensor> {
    let rank = this.sizes().len();
    let at = wrap_dim("dimension", dimension, rank)?;
    let whole = this.sizes().get(at).copied().unwrap_or(1);
    if !(0..=whole).contains(&size) {
        return Err(BadArgument::number("size", size, 0..=whole).because("the dimension has so many positions").into());
    }
    if step <= 0 {
        return Err(BadArgument::number("step", step, 1..).into());
    }
    let (mut sizes, mut strides) = (Dims::from_slice(this.sizes()), Dims::from_slice(this.strides()));
    let stride = strides.get(at).copied().unwrap_or(1);
    if rank > 0 {
        sizes[at] = (whole - size) / step + 1;
        strides[at] = stride.saturating_mul(step);
    }
    sizes.push(size);
    strides.push(stride);
    restrided(this, &sizes, &strides, this.geometry().offset())
}

/// Every position of a dimension.
#[op_def("unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]", body = CompositeExplicitAutograd)]
pub fn unbind_int(this: &Tensor, dim: i64) -> Result<Vec<Tensor>> {
    let (_, size) = sized("self", this, dim)?;
    let mut parts = room("self", size)?;
    for index in 0..size {
        parts.push(selected(this, dim, index)?);
    }
    Ok(parts)
}

/// Runs of `split_size` positions of a dimension; the last may be shorter.
#[op_def(
    "split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
    body = CompositeExplicitAutograd
)]
pub fn split(_: ...) -> Result<Vec<Tensor>> {
    split_evenly(this, split_size, dim)
}

fn split_evenly(this: &Tensor, split_size: i64, dim: i64) -> Result<Vec<Tensor>> {
    let (_, size) = sized("self", this, dim)?;
    if split_size < 0 || split_size == 0 && size != 0 {
        return Err(
            BadArgument::value("split_size", split_size, "one or more, or 0 where the dimension is empty").into()
        );
    }
    let count = if split_size == 0 { 1 } else { size / split_size + i64::from(size % split_size != 0) }.max(1);
    let mut parts = room("split_size", count)?;
    for part in 0..count {
        let start = part.saturating_mul(split_size);
        parts.push(sliced(this, dim, start, start.saturating_add(split_size), 1)?);
    }
    Ok(parts)
}

/// Runs of these lengths of a dimension.
#[op_def(
    "split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]",
    body = CompositeExplicitAutograd
)]
pub fn split_with_sizes(_: ...) -> Result<Vec<Tensor>> {
    split_in(this, split_sizes, dim)
}

fn split_in(this: &Tensor, split_sizes: &[i64], dim: i64) -> Result<Vec<Tensor>> {
    let (_, size) = sized("self", this, dim)?;
    let sum = split_sizes.iter().fold(0, |sum: i64, &size| sum.saturating_add(size));
    if split_sizes.iter().any(|&size| size < 0) || sum != size {
        return Err(BadArgument::sizes("split_sizes", split_sizes, format!("lengths that add up to {size}")).into());
    }
    let mut start = 0;
    let mut part = |length: i64| {
        let end = start + length;
        sliced(this, dim, std::mem::replace(&mut start, end), end, 1)
    };
    split_sizes.iter().map(|&length| part(length)).collect()
}

/// [`split`] whose parts their users promise to write one at a time.
#[op_def(
    "unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]",
    out = "Tensor_out", body = CompositeExplicitAutograd
)]
pub fn unsafe_split(this: &Tensor, split_size: i64, dim: i64) -> Result<Vec<Tensor>> {
    split_evenly(this, split_size, dim)
}

/// [`split_with_sizes`] whose parts their users promise to write one at a time.
#[op_def(
    "unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn unsafe_split_with_sizes(this: &Tensor, split_sizes: &[i64], dim: i64) -> Result<Vec<Tensor>> {
    split_in(this, split_sizes, dim)
}

/// [`split_with_sizes`], as it is also called.
#[op_def("split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]")]
pub fn split_sizes(this: &Tensor, split_size: &[i64], dim: i64) -> Result<Vec<Tensor>> {
    split_with_sizes(this, split_size, dim)
}

/// At most `chunks` runs of equal length of a dimension; the last may be shorter.
#[op_def("chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]")]
pub fn chunk(this: &Tensor, chunks: i64, dim: i64) -> Result<Vec<Tensor>> {
    let (_, size) = sized("self", this, dim)?;
    if chunks <= 0 {
        return Err(BadArgument::number("chunks", chunks, 1..).into());
    }
    if size == 0 {
        let count = room("chunks", chunks)?.capacity();
        return split_with_sizes(this, &vec![0; count], dim);
    }
    split(this, size / chunks + i64::from(size % chunks != 0), dim)
}

/// This many runs of a dimension, of lengths that differ by one at most.
#[op_def("tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[]")]
pub fn tensor_split_sections(this: &Tensor, sections: i64, dim: i64) -> Result<Vec<Tensor>> {
    let (_, size) = sized("self", this, dim)?;
    if sections <= 0 {
        return Err(BadArgument::number("sections", sections, 1..).into());
    }
    let mut parts = room("sections", sections)?;
    let mut start = 0;
    for part in 0..sections {
        let end = start + size / sections + i64::from(part < size % sections);
        parts.push(slice(this, dim, Some(start), Some(end), 1)?);
        start = end;
    }
    Ok(parts)
}

/// The runs of a dimension between these positions.
#[op_def("tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[]")]
pub fn tensor_split_indices(this: &Tensor, indices: &[i64], dim: i64) -> Result<Vec<Tensor>> {
    sized("self", this, dim)?;
    let mut parts = Vec::with_capacity(indices.len() + 1);
    let mut start = 0;
    for &end in indices {
        parts.push(slice(this, dim, Some(start), Some(end), 1)?);
        start = end;
    }
    parts.push(slice(this, dim, Some(start), None, 1)?);
    Ok(parts)
}

/// [`squeeze`], of the handle itself.
#[op_def("squeeze_(Tensor(a!) self) -> Tensor(a!)", body = CompositeExplicitAutograd)]
pub fn squeeze_(_: ...) -> Result<()> {
    *this = squeeze(this)?;
    Ok(())
}

/// [`squeeze_dim`], of the handle itself.
#[op_def("squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!)", body = CompositeExplicitAutograd)]
#[expect(non_snake_case, reason = "the operator is called so")]
pub fn squeeze__dim(this: &mut Tensor, dim: i64) -> Result<()> {
    *this = squeeze_dim(this, dim)?;
    Ok(())
}

/// [`squeeze_dims`], of the handle itself.
#[op_def("squeeze_.dims(Tensor(a!) self, int[] dim) -> Tensor(a!)", body = CompositeExplicitAutograd)]
#[expect(non_snake_case, reason = "the operator is called so")]
pub fn squeeze__dims(this: &mut Tensor, dim: &[i64]) -> Result<()> {
    *this = squeeze_dims(this, dim)?;
    Ok(())
}

/// [`unsqueeze`], of the handle itself.
#[op_def("unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)", body = CompositeExplicitAutograd)]
pub fn unsqueeze_(this: &mut Tensor, dim: i64) -> Result<()> {
    *this = unsqueeze(this, dim)?;
    Ok(())
}
