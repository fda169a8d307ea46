//! Tensors put in place of what a view shows.

use dispatch_runtime::Geometry;
use dispatch_runtime::prelude::*;

use crate::copying::{copied as fresh, write};
use crate::moves::copied;

/// A copy of `this` with `src` in place of what `view` shows of it.
fn replaced(this: &Tensor, src: &Tensor, view: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let out = copied(this, aten::scattered_spec(this, &view(this)?, src)?)?;
    write(&mut view(&out)?, src)?;
    Ok(out)
}

#[op_impl(aten::select_scatter, CUDA)]
fn select_scatter(this: &Tensor, src: &Tensor, dim: i64, index: i64) -> Result<Tensor> {
    replaced(this, src, |tensor| aten::select_int(tensor, dim, index))
}

#[op_impl(aten::slice_scatter, CUDA)]
fn slice_scatter(
    this: &Tensor,
    src: &Tensor,
    dim: i64,
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
) -> Result<Tensor> {
    replaced(this, src, |tensor| aten::slice(tensor, dim, start, end, step))
}

#[op_impl(aten::diagonal_scatter, CUDA)]
fn diagonal_scatter(this: &Tensor, src: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
    replaced(this, src, |tensor| aten::diagonal(tensor, offset, dim1, dim2))
}

#[op_impl(aten::as_strided_scatter, CUDA)]
fn as_strided_scatter(
    this: &Tensor,
    src: &Tensor,
    size: &[i64],
    stride: &[i64],
    storage_offset: Option<i64>,
) -> Result<Tensor> {
    let part = aten::as_strided(this, size, stride, storage_offset)?;
    let spec = aten::scattered_spec(this, &part, src)?;
    let bytes = i64::try_from(this.storage().size()).unwrap_or(i64::MAX);
    let all = Geometry::contiguous(&[bytes / i64::try_from(this.dtype().size()).unwrap_or(1)]);
    // The view may show what `this` does not, so all of the memory is copied.
    let memory = fresh(&this.restride(all)?, this.dtype())?;
    write(&mut memory.restride(part.geometry().clone())?, src)?;
    if spec.geometry.strides() == this.strides() {
        return Ok(memory.restride(this.geometry().clone())?);
    }
    copied(&memory.restride(this.geometry().clone())?, spec)
}
