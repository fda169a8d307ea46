//! Views of one slice or range of a tensor: `select`, `slice`, `narrow`, `unfold`.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Dims, Problem, wrap_dim};

use crate::prelude::*;
use crate::strided_view;

/// Returns a view of the slice at an index of a dimension, without this dimension.
#[op_def("select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn select_int(this: &Tensor, dim: i64, index: i64) -> Result<Tensor> {
    select_view(this, dim, index)
}

pub(super) fn select_view(this: &Tensor, dim: i64, index: i64) -> Result<Tensor> {
    let (at, size) = dim_and_size("self", this, dim)?;
    let wrapped = if index < 0 { index.saturating_add(size) } else { index };
    if !(0..size).contains(&wrapped) {
        return Err(BadArgument::new("index", Problem::Index { index, size, dim: Some(at) }).into());
    }
    let (mut sizes, mut strides) = (Dims::from_slice(this.sizes()), Dims::from_slice(this.strides()));
    sizes.remove(at);
    let stride = strides.remove(at);
    strided_view(this, &sizes, &strides, this.geometry().offset().saturating_add(wrapped.saturating_mul(stride)))
}

/// Returns the index and the size of the dimension `dim`.
pub(super) fn dim_and_size(argument: &'static str, this: &Tensor, dim: i64) -> Result<(usize, i64), BadArgument> {
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    let size = this.sizes().get(at).copied();
    size.map(|size| (at, size)).ok_or_else(|| BadArgument::rank(argument, 0, 1..))
}

/// Returns a view of every `step`th index of a dimension, from `start` up to below `end`.
#[op_def(
    "slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)",
    body = CompositeExplicitAutograd
)]
pub fn slice(this: &Tensor, dim: i64, start: Option<i64>, end: Option<i64>, step: i64) -> Result<Tensor> {
    slice_view(this, dim, start.unwrap_or(0), end.unwrap_or(i64::MAX), step)
}

pub(super) fn slice_view(this: &Tensor, dim: i64, start: i64, end: i64, step: i64) -> Result<Tensor> {
    let (at, size) = dim_and_size("self", this, dim)?;
    if step <= 0 {
        return Err(BadArgument::number("step", step, 1..).into());
    }
    let wrap = |index: i64| if index < 0 { index.saturating_add(size) } else { index };
    let start = wrap(start).clamp(0, size);
    let end = wrap(end).clamp(start, size);
    let (mut sizes, mut strides) = (Dims::from_slice(this.sizes()), Dims::from_slice(this.strides()));
    let offset = this.geometry().offset().saturating_add(start.saturating_mul(strides[at]));
    sizes[at] = (end - start) / step + i64::from((end - start) % step != 0);
    strides[at] = strides[at].saturating_mul(step);
    strided_view(this, &sizes, &strides, offset)
}

/// Returns a view of `length` indices of a dimension, from `start`.
#[op_def("narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)")]
pub fn narrow(this: &Tensor, dim: i64, start: i64, length: i64) -> Result<Tensor> {
    let (_, size) = dim_and_size("self", this, dim)?;
    if length < 0 {
        return Err(BadArgument::number("length", length, 0..).into());
    }
    let wrapped = if start < 0 { start.saturating_add(size) } else { start };
    if !(0..=size).contains(&wrapped) {
        return Err(BadArgument::new("start", Problem::Index { index: start, size, dim: None }).into());
    }
    if length > size - wrapped {
        return Err(BadArgument::number("length", length, ..=size - wrapped)
            .because("no more indices follow `start`")
            .into());
    }
    slice(this, dim, Some(wrapped), Some(wrapped + length), 1)
}

/// Returns a view of all windows of `size` indices along a dimension, `step` apart. The last dimension is along a window.
#[op_def("unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn unfold(this: &Tensor, dimension: i64, size: i64, step: i64) -> Result<Tensor> {
    let rank = this.sizes().len();
    let at = wrap_dim("dimension", dimension, rank)?;
    let dim_size = this.sizes().get(at).copied().unwrap_or(1);
    if !(0..=dim_size).contains(&size) {
        return Err(BadArgument::number("size", size, 0..=dim_size).because("the dimension has this size").into());
    }
    if step <= 0 {
        return Err(BadArgument::number("step", step, 1..).into());
    }
    let (mut sizes, mut strides) = (Dims::from_slice(this.sizes()), Dims::from_slice(this.strides()));
    let stride = strides.get(at).copied().unwrap_or(1);
    if rank > 0 {
        sizes[at] = (dim_size - size) / step + 1;
        strides[at] = stride.saturating_mul(step);
    }
    sizes.push(size);
    strides.push(stride);
    strided_view(this, &sizes, &strides, this.geometry().offset())
}

/// Computes [`narrow`](crate::narrow) from a start index in a tensor.
#[op_def("narrow.Tensor(Tensor(a) self, int dim, Tensor start, SymInt length) -> Tensor(a)")]
pub fn narrow_tensor(this: &Tensor, dim: i64, start: &Tensor, length: i64) -> Result<Tensor> {
    if !start.sizes().is_empty() {
        return Err(BadArgument::rank("start", start.sizes().len(), 0).into());
    }
    if !start.dtype().is_integral() {
        return Err(BadArgument::dtype("start", start.dtype(), DTypes::Integral).into());
    }
    narrow(this, dim, start.item()?, length)
}
