//! Each element with all that came before it along a dimension.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Promotion, Spec, wrap_dim};

use crate::sum_dtype;

/// The sums of all elements up to each.
#[op_def("cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", inplace, out = "out")]
pub fn cumsum(this: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor>;

/// The products of all elements up to each.
#[op_def("cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", inplace, out = "out")]
pub fn cumprod(this: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor>;

/// `log(cumsum(exp(self)))`, without overflow on the way.
#[op_def("logcumsumexp(Tensor self, int dim) -> Tensor", out = "out")]
pub fn logcumsumexp(this: &Tensor, dim: i64) -> Result<Tensor>;

/// The largest element up to each, and where it last was.
#[op_def("cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)", out = "out")]
pub fn cummax(this: &Tensor, dim: i64) -> Result<(Tensor, Tensor)>;

/// The smallest element up to each, and where it last was.
#[op_def("cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)", out = "out")]
pub fn cummin(this: &Tensor, dim: i64) -> Result<(Tensor, Tensor)>;

#[op_meta(cumsum)]
fn cumsum_meta(this: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    scan_spec(this, dim, sum_dtype(this, dtype))?.on(Device::META)
}

#[op_meta(cumprod)]
fn cumprod_meta(this: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    scan_spec(this, dim, sum_dtype(this, dtype))?.on(Device::META)
}

#[op_meta(logcumsumexp)]
fn logcumsumexp_meta(this: &Tensor, dim: i64) -> Result<Tensor> {
    scan_spec(this, dim, Promotion::Float.of(&[this]))?.on(Device::META)
}

#[op_meta(cummax)]
fn cummax_meta(this: &Tensor, dim: i64) -> Result<(Tensor, Tensor)> {
    placed_meta(this, dim)
}

#[op_meta(cummin)]
fn cummin_meta(this: &Tensor, dim: i64) -> Result<(Tensor, Tensor)> {
    placed_meta(this, dim)
}

/// What elements of a tensor and their places along a dimension look like.
pub(crate) fn placed_meta(this: &Tensor, dim: i64) -> Result<(Tensor, Tensor)> {
    let values = scan_spec(this, dim, this.dtype())?;
    let indices = Spec { dtype: DType::I64, ..values.clone() };
    Ok((values.on(Device::META)?, indices.on(Device::META)?))
}

/// What a scan looks like.
///
/// # Errors
///
/// Where the dimension is not there.
pub fn scan_spec(this: &Tensor, dim: i64, dtype: DType) -> Result<Spec, BadArgument> {
    wrap_dim("dim", dim, this.sizes().len())?;
    Ok(Spec::contiguous(dtype, this.sizes()))
}
