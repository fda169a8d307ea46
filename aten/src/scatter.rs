//! Elements put where another tensor, or a view, says.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Geometry, Spec, wrap_dim};

use crate::{check_beside, check_index};

/// The tensor with the elements of `src` at the positions that `index` has along a dimension.
#[op_def("scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", inplace, out = "src_out")]
pub fn scatter_src(this: &Tensor, dim: i64, index: &Tensor, src: &Tensor) -> Result<Tensor>;

#[op_meta(scatter_src)]
fn scatter_src_meta(this: &Tensor, dim: i64, index: &Tensor, src: &Tensor) -> Result<Tensor> {
    scatter_spec(this, dim, index, Some(src))?.0.on(Device::META)
}

/// The same with one number.
#[op_def("scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", inplace, out = "value_out")]
pub fn scatter_value(this: &Tensor, dim: i64, index: &Tensor, value: Scalar) -> Result<Tensor>;

#[op_meta(scatter_value)]
fn scatter_value_meta(this: &Tensor, dim: i64, index: &Tensor, value: Scalar) -> Result<Tensor> {
    let _ = value;
    scatter_spec(this, dim, index, None)?.0.on(Device::META)
}

/// The tensor plus or times the elements of `src` at these positions.
#[op_def(
    "scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
    inplace,
    out = "reduce_out"
)]
pub fn scatter_reduce(this: &Tensor, dim: i64, index: &Tensor, src: &Tensor, reduce: &str) -> Result<Tensor>;

#[op_meta(scatter_reduce)]
fn scatter_reduce_meta(this: &Tensor, dim: i64, index: &Tensor, src: &Tensor, reduce: &str) -> Result<Tensor> {
    let _ = reduce;
    scatter_spec(this, dim, index, Some(src))?.0.on(Device::META)
}

/// The same with one number.
#[op_def(
    "scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor",
    inplace,
    out = "value_reduce_out"
)]
pub fn scatter_value_reduce(this: &Tensor, dim: i64, index: &Tensor, value: Scalar, reduce: &str) -> Result<Tensor>;

#[op_meta(scatter_value_reduce)]
fn scatter_value_reduce_meta(this: &Tensor, dim: i64, index: &Tensor, value: Scalar, reduce: &str) -> Result<Tensor> {
    let _ = (value, reduce);
    scatter_spec(this, dim, index, None)?.0.on(Device::META)
}

/// The tensor plus the elements of `src` at these positions.
#[op_def("scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", inplace, out = "out")]
pub fn scatter_add(this: &Tensor, dim: i64, index: &Tensor, src: &Tensor) -> Result<Tensor>;

#[op_meta(scatter_add)]
fn scatter_add_meta(this: &Tensor, dim: i64, index: &Tensor, src: &Tensor) -> Result<Tensor> {
    scatter_spec(this, dim, index, Some(src))?.0.on(Device::META)
}

/// The tensor and the elements of `src` at these positions, reduced.
#[op_def(
    "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor",
    inplace,
    out = "two_out"
)]
pub fn scatter_reduce_two(
    this: &Tensor,
    dim: i64,
    index: &Tensor,
    src: &Tensor,
    reduce: &str,
    include_self: bool,
) -> Result<Tensor>;

#[op_meta(scatter_reduce_two)]
fn scatter_reduce_two_meta(
    this: &Tensor,
    dim: i64,
    index: &Tensor,
    src: &Tensor,
    reduce: &str,
    include_self: bool,
) -> Result<Tensor> {
    let _ = (reduce, include_self);
    scatter_spec(this, dim, index, Some(src))?.0.on(Device::META)
}

/// What [`scatter_src`] and its like make, and along which dimension.
pub fn scatter_spec(
    this: &Tensor,
    dim: i64,
    index: &Tensor,
    src: Option<&Tensor>,
) -> Result<(Spec, usize), BadArgument> {
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    check_index("index", index)?;
    check_beside("index", index, this, Some(at))?;
    if let Some(src) = src {
        if src.dtype() != this.dtype() {
            return Err(BadArgument::dtype("src", src.dtype(), format!("{}, as `self` is", this.dtype())));
        }
        check_beside("index", index, src, None)?;
    }
    Ok((Spec::contiguous(this.dtype(), this.sizes()), at))
}

/// The tensor with `src` in place of what [`select_int`](crate::select_int) shows.
#[op_def("select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor", out = "out")]
pub fn select_scatter(this: &Tensor, src: &Tensor, dim: i64, index: i64) -> Result<Tensor>;

#[op_meta(select_scatter)]
fn select_scatter_meta(this: &Tensor, src: &Tensor, dim: i64, index: i64) -> Result<Tensor> {
    scattered_spec(this, &crate::select_int(this, dim, index)?, src)?.on(Device::META)
}

/// The tensor with `src` in place of what [`slice`](crate::slice) shows.
#[op_def(
    "slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor",
    out = "out"
)]
pub fn slice_scatter(
    this: &Tensor,
    src: &Tensor,
    dim: i64,
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
) -> Result<Tensor>;

#[op_meta(slice_scatter)]
fn slice_scatter_meta(
    this: &Tensor,
    src: &Tensor,
    dim: i64,
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
) -> Result<Tensor> {
    scattered_spec(this, &crate::slice(this, dim, start, end, step)?, src)?.on(Device::META)
}

/// The tensor with `src` in place of what [`diagonal`](crate::diagonal) shows.
#[op_def("diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor", out = "out")]
pub fn diagonal_scatter(this: &Tensor, src: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor>;

#[op_meta(diagonal_scatter)]
fn diagonal_scatter_meta(this: &Tensor, src: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
    scattered_spec(this, &crate::diagonal(this, offset, dim1, dim2)?, src)?.on(Device::META)
}

/// The tensor with `src` in place of what [`as_strided`](crate::as_strided) shows.
#[op_def(
    "as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor",
    out = "out"
)]
pub fn as_strided_scatter(
    this: &Tensor,
    src: &Tensor,
    size: &[i64],
    stride: &[i64],
    storage_offset: Option<i64>,
) -> Result<Tensor>;

#[op_meta(as_strided_scatter)]
fn as_strided_scatter_meta(
    this: &Tensor,
    src: &Tensor,
    size: &[i64],
    stride: &[i64],
    storage_offset: Option<i64>,
) -> Result<Tensor> {
    scattered_spec(this, &crate::as_strided(this, size, stride, storage_offset)?, src)?.on(Device::META)
}

/// What replacing `part`, a view of `this`, makes: the same strides, unless elements share memory.
pub fn scattered_spec(this: &Tensor, part: &Tensor, src: &Tensor) -> Result<Spec, BadArgument> {
    if src.sizes() != part.sizes() {
        return Err(BadArgument::sizes("src", src.sizes(), format!("{:?}, as what it replaces", part.sizes())));
    }
    let own = this.geometry();
    let shared = own.sizes().iter().zip(own.strides()).any(|(&size, &stride)| size > 1 && stride == 0);
    let same = Geometry::strided(own.sizes(), own.strides(), 0).filter(|_| !shared);
    Ok(Spec { dtype: this.dtype(), geometry: same.unwrap_or_else(|| Geometry::contiguous(own.sizes())) })
}
